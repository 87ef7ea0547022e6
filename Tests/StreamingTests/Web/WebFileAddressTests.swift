import Testing

@testable import Playback
@testable import Player

@Suite("Addresses of web files (docs/playback.md, 18)")
struct WebFileAddressTests {
    @Test(
        "Addresses, and the paths of their requests",
        arguments: [
            ("http://nas/a.flac", "http://nas/a.flac"), ("HTTPS://nas:8443/a.flac", "HTTPS://nas:8443/a.flac"),
            ("http://nas/a b.flac", "http://nas/a%20b.flac"), ("http://nas/ä%20b?x=1#y", "http://nas/%C3%A4%20b?x=1#y"),
            ("http://nas", "http://nas"), ("http://nas?id=7", "http://nas?id=7"),
            ("http:///a.flac", nil), ("http://", nil), ("http:/nas/a.flac", nil), ("ftp://nas/a.flac", nil),
            ("httpx://nas/a", nil), ("/music/http://a", nil), ("file:///etc/passwd", nil), ("", nil),
        ] as [(String, String?)])
    func requests(text: String, request: String?) {
        #expect(WebFileAddress(text)?.request == request)
        if request != nil { #expect(WebFileAddress.isMeant(by: text)) }
    }

    @Test(
        "A user name and a password are not shown, and refused",
        arguments: [
            ("http://me:secret@nas/a.flac", "http://nas/a.flac"),
            ("https://me@nas:1/a@b.flac", "https://nas:1/a@b.flac"),
            ("http://a:b@c:secret@nas?x=@", "http://nas?x=@"), ("http://me:secret@", "http://"),
        ])
    func logins(text: String, shown: String) throws {
        let address = try #require(WebFileAddress(text))
        #expect(address.shown == shown)
        #expect(address.refusal?.hasPrefix("an address with a user name or password is not played") == true)
    }

    @Test(
        "Lists are refused by their names",
        arguments: [
            ("http://nas/list.m3u", true), ("http://nas/LIST.PLS?x=a.flac", true), ("http://nas/a/b.cue#x", true),
            ("http://nas/list.m3u/a.flac", false), ("http://nas/a.flac?list=b.m3u", false), ("http://m3u", false),
            ("http://nas.m3u", false), ("http://nas/stream", false),
        ])
    func lists(text: String, isRefused: Bool) throws {
        let address = try #require(WebFileAddress(text))
        #expect((address.refusal != nil) == isRefused && address.shown == text)
    }
}
