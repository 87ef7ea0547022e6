import Network
import PlayerTestSupport
import Testing

@testable import Fetching

@Suite("The decisions of a transfer after failures (docs/playback.md, 15.4, 15.15 and 15.16)")
struct TransferFailureTests {
    private static let lost = TransferError.connection(.lost)

    private static func retried(_ error: TransferError, _ milliseconds: Int, isLogged: Bool = false) -> TransferStep {
        .end(error, (isLogged ? "log a: \(error.description). It is retried., " : "") + "link \(milliseconds)")
    }

    private static let network = [
        TransferScript(
            "the network fails: delays double up to 30 s, without end, and are logged once",
            [.start(), .attempt(), retried(lost, 500, isLogged: true)]
                + [1000, 2000, 4000, 8000, 16_000, 30_000, 30_000].flatMap { [.attempt(), retried(lost, $0)] }),
        TransferScript(
            "another link begins the delays again",
            [
                .start(), .attempt(), retried(lost, 500, isLogged: true), .attempt(), retried(lost, 1000), .link(),
                .attempt(), retried(lost, 500),
            ]),
        TransferScript(
            "bytes begin the delays again, and the next interruption is logged",
            [
                .start(), .attempt(), retried(lost, 500, isLogged: true), .attempt(), retried(lost, 1000), .attempt(),
                .head(200, "begin ?"), .bytes(3, "wait is over"), retried(lost, 500, isLogged: true),
                .attempt("request 3-"),
            ]),
        TransferScript(
            "a head alone does not",
            [
                .start(), .attempt(), retried(lost, 500, isLogged: true), .attempt(), .head(200, "begin ?"),
                retried(lost, 1000),
            ]),
        TransferScript(
            "a late first byte doubles its timeout up to two minutes; other failures do not change it",
            [.start(), .attempt(), retried(.timeOut(.firstByte), 500, isLogged: true)]
                + zip([40_000, 80_000, 120_000], [1000, 2000, 4000]).flatMap { timeout, delay in
                    [.attempt("request within \(timeout) ms"), retried(.timeOut(.firstByte), delay)]
                } + [.attempt("request within 120000 ms"), retried(lost, 8000), .attempt("request within 120000 ms")]),
        TransferScript(
            "a file that may never have worked: four retries with the same timeout", for: .opening,
            [.start(), .attempt(), retried(.timeOut(.firstByte), 500, isLogged: true)]
                + [1000, 2000, 4000].flatMap { [.attempt(), retried(.timeOut(.firstByte), $0)] }
                + [.attempt(), .end(lost, "end \(lost)")]),
        TransferScript(
            "once it has worked it is retried without end", for: .opening,
            [.start(), .attempt(), .head(200, "begin ?"), .bytes(3)] + [retried(lost, 500, isLogged: true)]
                + [1000, 2000, 4000, 8000].flatMap { [.attempt("request 3-"), retried(lost, $0)] }),
        TransferScript("a command is not retried", for: .command, [.start(), .attempt(), .end(lost, "end \(lost)")]),
    ]

    @Test("The network fails", arguments: network)
    func networkFails(script: TransferScript) { script.run() }

    private static let line = "log a: the server answers with status 503. It is retried., "

    private static let service = [
        TransferScript(
            "a service that fails: three retries, then the refusal",
            [.start(), .attempt(), .head(503), .end("\(line)server 500")]
                + [1000, 2000].flatMap { [.attempt(), .head(503), .end("server \($0)")] }
                + [.attempt(), .head(503), .text("{\"subStatus\": 9}", "ignored"), .end("end 503/9")]),
        TransferScript(
            "Retry-After counts when it is longer",
            [
                .start(), .attempt(), .head(503, ["Retry-After: 9"]), .end("\(line)server 9000"), .attempt(),
                .head(429, ["Retry-After: 0"]), .end("server 1000"),
            ]),
        TransferScript(
            "an hour is the longest",
            [.start(), .attempt(), .head(503, ["Retry-After: 9999"]), .end("\(line)server 3600000")]),
        TransferScript(
            "another link does not begin the delays of a service again",
            [
                .start(), .attempt(), .head(503), .end("\(line)server 500"), .attempt(), retried(lost, 500), .link(),
                .attempt(), .head(503), .end("server 500"),
            ]),
        TransferScript("a 4XX is final", [.start(), .attempt(), .head(404), .end("end 404")]),
        TransferScript(
            "a refusal that breaks off is a failure of the network",
            [.start(), .attempt(), .head(404), .text("{", "ignored"), retried(.truncated, 500, isLogged: true)]),
        TransferScript(
            "a refused range after bytes is a refusal",
            [
                .start(), .attempt(), .head(200, ["Content-Length: 9"], "begin 9"), .bytes(3),
                retried(lost, 500, isLogged: true), .attempt("request 3-"), .head(416), .end("end 416"),
            ]),
        TransferScript(
            "a web page is a refusal by a third party, and is not delivered",
            [
                .start(), .attempt(), .head(200, ["Content-Type: text/html"], "begin ?"),
                .text("<!DOCTYPE html>", "refused, end 200, cancel"), .end(.cancelled, ""),
            ]),
        TransferScript(
            "only the first bytes of a resource can be a page",
            [.start(), .attempt(), .head(200, "begin ?"), .bytes(3), .text("<!DOCTYPE html>", ""), .end("end")]),
        TransferScript(
            "no part after the beginning is a page", from: 20,
            [
                .start(), .attempt("request 20-"), .head(206, ["Content-Range: bytes 20-99/100"], "begin 100"),
                .text("<!DOCTYPE html>", ""),
            ]),
    ]

    @Test("The service fails", arguments: service)
    func serviceFails(script: TransferScript) { script.run() }

    private static let (x, y) = ("https://x/", "https://y/")
    private static let xy = [x, y]

    private static let alternatives = [
        TransferScript(
            "another address is requested at once, and proves to work with the last byte", at: xy,
            [
                .start(), .attempt("request \(x)", ranks: [0, 0]),
                .end(.connection(.refused), "\(x) fails as its host, attempt"),
                .attempt("request \(y)", ranks: [1, 0]), .head(200, "begin ?"), .bytes(3, "wait is over"),
                .end("\(y) works, end"),
            ]),
        TransferScript(
            "an address that has failed elsewhere is the last", at: xy,
            [
                .start(), .attempt("request \(y)", ranks: [1, 0]), .end(lost, "\(y) fails as its host, attempt"),
                .attempt("request \(x)", ranks: [1, 2]),
            ]),
        TransferScript(
            "a refusal is of the address, not of its host", at: xy,
            [
                .start(), .attempt("request \(x)", ranks: [0, 0]), .head(404), .end("\(x) fails, attempt"),
                .attempt("request \(y)", ranks: [1, 0]), .head(404), .end("\(y) fails, end 404"),
            ]),
        TransferScript(
            "all have failed: the one that failed first is retried after a delay", at: xy,
            [
                .start(), .attempt("request \(x)", ranks: [0, 0]), .end(lost, "\(x) fails as its host, attempt"),
                .attempt("request \(y)", ranks: [1, 0]),
                .end(lost, "\(y) fails as its host, log y: \(lost.description). It is retried., link 500"),
                .attempt("request \(x)", ranks: [1, 2]), .end(lost, "\(x) fails as its host, attempt"),
                .attempt("request \(y)", ranks: [2, 1]), .end(lost, "\(y) fails as its host, link 1000"),
            ]),
        TransferScript(
            "a metered way leads to the other address, also where its bytes were cut off", at: xy,
            [
                .start(), .attempt("request \(x)", ranks: [0, 0]),
                .end(.meteredLink, "\(x) fails as its host, attempt"), .attempt("request \(y)", ranks: [1, 0]),
                .head(200, "begin ?"), .bytes(3, "wait is over"), .end("\(y) works, end"),
            ]),
        TransferScript(
            "all ways are metered: it ends, to wait for another link", at: xy,
            [
                .start(), .attempt("request \(x)", ranks: [0, 0]),
                .end(.meteredLink, "\(x) fails as its host, attempt"), .attempt("request \(y)", ranks: [1, 0]),
                .end(.meteredLink, "\(y) fails as its host, end \(TransferError.meteredLink)"),
            ]),
        TransferScript(
            "one way is metered and the other address does not answer: that is retried, in either order", at: xy,
            [
                .start(), .attempt("request \(x)", ranks: [0, 0]), .end(lost, "\(x) fails as its host, attempt"),
                .attempt("request \(y)", ranks: [1, 0]),
                .end(
                    .meteredLink,
                    "\(y) fails as its host, log y: \(lost.description). It is retried., link 500"),
                .attempt("request \(x)", ranks: [1, 2]), .end(lost, "\(x) fails as its host, attempt"),
                .attempt("request \(y)", ranks: [2, 1]), .end(.meteredLink, "\(y) fails as its host, link 1000"),
                .attempt("request \(y)", ranks: [2, 1]), .end(.meteredLink, "\(y) fails as its host, attempt"),
                .attempt("request \(x)", ranks: [1, 2]), .end(lost, "\(x) fails as its host, link 2000"),
            ]),
        TransferScript(
            "the only address leads over a metered link: it ends",
            [.start(), .attempt(), .end(.meteredLink, "end \(TransferError.meteredLink)")]),
        TransferScript(
            "a failure that waiting does not change leads to the other address, and then is the end", at: xy,
            [
                .start(), .attempt("request \(x)", ranks: [0, 0]),
                .end(.malformedAnswer, "\(x) fails as its host, attempt"), .attempt("request \(y)", ranks: [1, 0]),
                .end(.malformedAnswer, "\(y) fails as its host, end \(TransferError.malformedAnswer)"),
            ]),
        TransferScript(
            "the rest comes from another host, without its validator and with the same length", at: xy,
            [
                .start(), .attempt("request \(x)", ranks: [0, 0]),
                .head(200, ["ETag: \"x\"", "Content-Length: 9"], "begin 9"), .bytes(3),
                .end(lost, "\(x) fails as its host, attempt"), .attempt("request \(y) 3-", ranks: [1, 0]),
                .head(206, ["ETag: \"y\"", "Content-Range: bytes 3-8/9"]), .bytes(6, "wait is over"),
                .end("\(y) works, end"),
            ]),
        TransferScript(
            "another length is another resource", at: xy,
            [
                .start(), .attempt("request \(x)", ranks: [0, 0]), .head(200, ["Content-Length: 9"], "begin 9"),
                .bytes(3), .end(lost, "\(x) fails as its host, attempt"), .attempt("request \(y) 3-", ranks: [1, 0]),
                .head(206, ["Content-Range: bytes 3-9/10"], "end changed, cancel"),
            ]),
        TransferScript(
            "a version of another host is compared by its length", of: ResourceVersion(validator: "\"v1\""), at: xy,
            [.start(), .attempt("request \(y)", ranks: [1, 0]), .head(200, ["ETag: \"v2\""], "begin ?")]),
        TransferScript(
            "a version of this host is compared by its validator", of: ResourceVersion(validator: "\"v1\""), at: xy,
            [.start(), .attempt("request \(x)", ranks: [0, 0]), .head(200, ["ETag: \"v2\""], "end changed, cancel")]),
        TransferScript(
            "a web page leads to another address; the last one's is the end", at: xy,
            [
                .start(), .attempt("request \(x)", ranks: [0, 0]), .head(200, "begin ?"),
                .text("<html>", "refused, cancel"), .text("more", "ignored"), .end(.cancelled, "\(x) fails, attempt"),
                .attempt("request \(y)", ranks: [1, 0]), .head(200, "begin ?"),
                .text("<html>", "refused, end 200, cancel"),
            ]),
        TransferScript(
            "a page whose connection is lost does, too", at: xy,
            [
                .start(), .attempt("request \(x)", ranks: [0, 0]), .head(200, "begin ?"),
                .text("<html>", "refused, cancel"), .end(lost, "\(x) fails, attempt"),
            ]),
        TransferScript(
            "64 KiB prove that an address works, and void earlier failures", at: xy,
            [
                .start(), .attempt("request \(x)", ranks: [0, 0]), .end(lost, "\(x) fails as its host, attempt"),
                .attempt("request \(y)", ranks: [1, 0]), .head(200, "begin ?"), .bytes(65_535, "wait is over"),
                .bytes(1, "wait is over, \(y) works"), .bytes(1, "wait is over, \(y) works"),
                .end(lost, "\(y) fails as its host, attempt"), .attempt("request \(x) 65537-", ranks: [0, 1]),
            ]),
        TransferScript(
            "fewer bytes do not", at: xy,
            [
                .start(), .attempt("request \(x)", ranks: [0, 0]), .end(lost, "\(x) fails as its host, attempt"),
                .attempt("request \(y)", ranks: [1, 0]), .head(200, "begin ?"), .bytes(9, "wait is over"),
                .end(lost, "\(y) fails as its host, log y: \(lost.description). It is retried., link 500"),
            ]),
        TransferScript(
            "an optional resource gives way at once", at: [x], retries: 0,
            [
                .start(), .attempt("request \(x)", ranks: [0]), .end(lost, "\(x) fails as its host, end \(lost)"),
            ]),
        TransferScript(
            "or after its retries, all addresses counting as one", at: xy, retries: 1,
            [
                .start(), .attempt("request \(x)", ranks: [0, 0]), .end(lost, "\(x) fails as its host, attempt"),
                .attempt("request \(y)", ranks: [1, 0]),
                .end(lost, "\(y) fails as its host, log y: \(lost.description). It is retried., link 500"),
                .attempt("request \(x)", ranks: [1, 2]), .head(503), .end("\(x) fails, attempt"),
                .attempt("request \(y)", ranks: [2, 1]), .head(503), .end("\(y) fails, \(y) fails, end 503"),
            ]),
        TransferScript(
            "after bytes it has two retries at least", at: [x], retries: 0,
            [
                .start(), .attempt("request \(x)", ranks: [0]), .head(200, "begin ?"), .bytes(3),
                .end(lost, "log x: \(lost.description). It is retried., link 500"),
                .attempt("request \(x) 3-", ranks: [0]), .end(lost, "link 1000"),
                .attempt("request \(x) 3-", ranks: [0]), .end(lost, "\(x) fails as its host, end \(lost)"),
            ]),
        TransferScript(
            "a failure that is not of an address does not count", at: [x], retries: 0,
            [.start(), .attempt("request \(x)", ranks: [0]), .end(.meteredLink, "end \(TransferError.meteredLink)")]),
    ]

    @Test("Addresses that stand for one another", arguments: alternatives)
    func addressFails(script: TransferScript) { script.run() }
}
