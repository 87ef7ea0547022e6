import Database
import Media
import Output
import PCM
import Platform
import PlayerTestSupport
import Testing

@testable import Playback
@testable import Player

@Suite("Errors carry their cause; the code follows from it (docs/playback.md, 6)")
struct ErrorCauseTests {
    static let product = MediaProduct(productType: .track, productId: "/music/a.flac", referenceId: "a")

    @Test(
        "Media",
        arguments: [
            (.notAudio(looksLike: "JPEG"), "m1"), (.unsupported(what: "x"), "m2"), (.damaged(what: "x"), "m3"),
            (.empty, "m4"), (.source(.cancelled), "m5"), (.source(.integrity(reason: "x")), "m7"),
            (.protected(by: "Widevine"), "m8"), (.missingKey(id: [1]), "m9"), (.license(reason: "x"), "m10"),
            (.source(.status(404)), "h404"), (.source(.network(reason: "x")), "n1"),
            (.source(.unusable(reason: "x")), "n2"),
        ] as [(MediaError, String)])
    func media(error: MediaError, code: String) {
        let raised = PlayerError(error, Self.product)
        #expect(raised.cause == .media(error))
        #expect(raised.code == code)
        #expect(raised.mediaProduct == Self.product)
        #expect(raised.message.hasPrefix("/music/a.flac: "))
        #expect((raised.kind == .network) == (code == "n1"))
    }

    @Test("A medium that fails is an error of the system, wherever it shows")
    func medium() {
        let error = SystemError(code: 5, operation: "read", subject: "/music/a.flac")
        for raised in [PlayerError(error, Self.product), PlayerError(.source(.medium(error)), Self.product)] {
            #expect(raised.cause == .system(error))
            #expect(raised.code == "s5")
            #expect(raised.mediaProduct == Self.product)
        }
        #expect(PlayerError(error).cause == .system(error))
    }

    @Test("Devices, memory, offline copies, and a source's own")
    func others() {
        let busy = DeviceError.busy(device: "hw:0")
        #expect(PlayerError(busy).cause == .device(busy))
        #expect(PlayerError(busy).code == "d2")
        let memory = OutOfMemory(byteCount: 1 << 40)
        #expect(PlayerError(memory, Self.product).cause == .memory(memory))
        #expect(PlayerError(memory, Self.product).code == "m6")
        let database = DatabaseError(kind: .corrupt, code: 11, message: "x", path: "y")
        #expect(PlayerError(database).cause == .database(database))
        #expect(PlayerError(database).code == "b11")
        #expect(PlayerError(.notAllowed, code: "x1", message: "").cause == .source(code: "x1"))
        #expect(PlayerError(.notAllowed, code: "x1", message: "").code == "x1")
    }

    @Test("Every product comes from local files so far")
    func route() throws {
        #expect(SourceRouter.route(of: Self.product) == .local)
        let recording = ScriptedRecording("a", frames: 10)
        let opened = try SourceRouter(local: ScriptedSource([recording])).open(
            recording.product, session: PlaybackSession(), cancellation: Cancellation(), medium: MediumAccess())
        #expect(opened.productId == "actual a")
    }
}
