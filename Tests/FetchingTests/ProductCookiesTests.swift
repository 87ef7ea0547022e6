import Network
import PlayerTestSupport
import Testing

@testable import Fetching
@testable import Player

@Suite("Cookies of a product's transfers")
struct ProductCookiesTests {
    private func cookies(_ fields: [String], from url: String = "https://a.music.example/m/list.m3u8?x=1")
        -> ProductCookies
    {
        let cookies = ProductCookies()
        cookies.take(
            ResponseHead(status: 200, headers: fields.map { HeaderField("Set-Cookie", $0) }, effectiveURL: url))
        return cookies
    }

    @Test(
        "They go where they were set for",
        arguments: [
            ("a=1", "https://a.music.example/m/1.mp4", "a=1"), ("a=1", "https://a.music.example/m", "a=1"),
            ("a=1", "https://a.music.example/n/1.mp4", nil), ("a=1", "https://b.music.example/m/1.mp4", nil),
            ("a=1", "https://a.music.example/media/1.mp4", nil),
            ("a=1; Path=/", "https://A.Music.Example:8443/n?y", "a=1"),
            ("a=1; path=/; domain=.Music.Example", "https://b.music.example/", "a=1"),
            ("a=1; Path=/; Domain=example", "https://b.example/", nil),
            ("a=1; Path=/; Domain=other.example", "https://other.example/", nil),
            ("a=1; Path=/; Domain=usic.example", "https://usic.example/", nil),
            ("a=1; Path=/; Secure", "http://a.music.example/", nil), ("a=1; Path=/", "http://a.music.example/", "a=1"),
            ("a=1; Max-Age=0; Path=/", "https://a.music.example/", nil), ("a", "https://a.music.example/m/", nil),
            ("=1", "https://a.music.example/m/", nil), (" a = 1 = 2 ; Path=/", "https://a.music.example/", "a=1 = 2"),
        ] as [(String, String, String?)])
    func goes(field: String, url: String, expected: String?) {
        #expect(cookies([field]).field(for: url)?.value == expected)
    }

    @Test("A later one replaces one of the same name, and there are few")
    func replaces() {
        let some = cookies(["a=1; Path=/", "b=2; Path=/", "a=3; Path=/"])
        #expect(some.field(for: "https://a.music.example/")?.value == "b=2; a=3")
        let many = cookies((0..<60).map { "c\($0)=1; Path=/" })
        #expect(many.field(for: "https://a.music.example/")?.value.split(separator: ";").count == 50)
    }

    @Test("A cookie of one transfer is sent by the next one of the product, and by no other product's")
    func transfers() {
        let network = ScriptedNetwork()
        let (progress, other) = (StreamProgress(), StreamProgress())
        func begin(_ progress: StreamProgress) {
            _ = ResourceTransfer(
                TransferRequest(url: "https://a/b/c"), over: network, progress: progress, into: RecordedResource())
        }
        begin(progress)
        network.last.answer(200, [("Set-Cookie", "a=1")], [1])
        begin(progress)
        #expect(network.last.request.headers == [HeaderField("Cookie", "a=1")])
        begin(other)
        #expect(network.last.request.headers.isEmpty)
    }
}
