import Platform
import PlayerTestSupport
import TestSupport
import Testing

@testable import Account
@testable import Fetching
@testable import Playback

@Suite("Every answer in place of another token (docs/playback.md, 15.15)")
struct RefreshAnswerTests {
    private static let product = MediaProduct(productType: .track, productId: "tonearm:track/7", referenceId: "r")

    @Test(
        "Only an error of OAuth by 400 or 401 ends the login, else the service is away",
        arguments: [
            (#"{"error": "invalid_grant"}"#, true), (#"{"error": "invalid_scope"}"#, true),
            (#"{"error": "blocked"}"#, false), (#"{"status": 400, "subStatus": 11003}"#, false),
            (#"{"error": "inval"#, false), ("<!DOCTYPE html><html>log in</html>", false), ("", false),
        ])
    func places(body: String, isError: Bool) throws {
        let (folder, cancellation) = (try ScratchFolder(), try Cancellation())
        let store = LoginStore(folder: folder.path, service: ServiceSettings(baseURL: "https://nas"))
        try store.save(LoginTokens(access: "a1", refresh: "r1"))
        for status in 100...599 {
            let credentials = RefreshingCredentials(store, over: ScriptedTokens { _ in .success((status, body)) })
            let isEnd = isError && (status == 400 || status == 401)
            do throws(ResourceFailure) {
                #expect(try credentials.token(insteadOf: "a1", cancellation: cancellation) == nil)
                #expect(isEnd, "\(status)")
            } catch {
                #expect(!isEnd && PlayerError(error, Self.product).reach == .service, "\(status)")
            }
        }
        #expect(try store.load() == LoginTokens(access: "a1", refresh: "r1"))
    }
}
