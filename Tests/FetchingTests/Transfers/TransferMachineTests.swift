import Network
import PlayerTestSupport
import Testing

@testable import Fetching

@Suite("The decisions of a transfer: attempts, ranges, ends (docs/playback.md, 15.4)")
struct TransferMachineTests {
    private static let lost = TransferError.connection(.lost)
    private static let part = ByteRange(from: 20, upTo: 60)
    private static let stored = ResourceVersion(validator: "\"v1\"")
    private static let coded = TransferError.coding(.ofPart(coding: "gzip"))
    private static let lostLine = "log a: \(TransferError.connection(.lost).description). It is retried."

    private static let ends = [
        TransferScript(
            "a whole answer is the end",
            [
                .start(), .attempt(), .head(200, ["Content-Length: 100"], "begin 100"), .bytes(40), .bytes(60),
                .end("end"),
            ]),
        TransferScript(
            "the length may be unknown", [.start(), .attempt(), .head(200, "begin ?"), .bytes(4), .end("end")]),
        TransferScript(
            "an empty range needs no request", range: ByteRange(from: 9, upTo: 9), [.start("turn"), .attempt("end")]),
        TransferScript(
            "an empty range of a part needs none either", range: part, from: 40, [.start("turn"), .attempt("end")]),
        TransferScript(
            "a rest without bytes is empty", from: 100,
            [.start(), .attempt("request 100- in parts"), .head(416), .end("end")]
        ) { $0.isReadInParts = true },
        TransferScript(
            "an answer that is no content is a refusal", [.start(), .attempt(), .head(204), .end("end 204")]),
        TransferScript(
            "an error without waiting is the end",
            [.start(), .attempt(), .end(.malformedAnswer, "end \(TransferError.malformedAnswer)")]),
        TransferScript(
            "a body that is too large is the end, also where another address is left",
            at: ["https://x/", "https://y/"],
            [.start(), .attempt("request https://x/", ranks: [0, 0]), .end(.tooLarge, "end too large")]),
        TransferScript(
            "an end without a head cannot be content",
            [.start(), .attempt(), .end("end \(TransferError.malformedAnswer)")]),
        TransferScript(
            "events after the end have no effect",
            [
                .start(), .attempt(), .end(.malformedAnswer, "end \(TransferError.malformedAnswer)"), .attempt(""),
                .head(200), .end(""),
                .bytes(1, "ignored"), .cancel(""),
            ]),
    ]

    private static let attempts = [
        TransferScript(
            "a refusal by the service has its reason",
            [
                .start(), .attempt(), .head(404), .text("{\"subStatus\":", "ignored"), .text(" 2001}", "ignored"),
                .end("end 404/2001"),
            ]),
        TransferScript(
            "a retry begins the answer again while no byte has arrived",
            [
                .start(), .attempt(), .head(200, "begin ?"), .end(lost, "\(lostLine), link 500"), .attempt(),
                .head(200, ["Content-Length: 4"], "begin 4"), .bytes(4, "wait is over"), .end("end"),
            ]),
        TransferScript(
            "a retry continues after the last byte, with the validator",
            [
                .start(), .attempt(), .head(200, ["ETag: \"v1\""], "begin ?"), .bytes(30),
                .end(lost, "\(lostLine), link 500"), .attempt("request 30- If-Range: \"v1\""),
                .head(206, ["Content-Range: bytes 30-99/100", "ETag: \"v1\""]), .bytes(70, "wait is over"), .end("end"),
            ]),
        TransferScript(
            "the rest of stored bytes has their validator as a condition, also in a retry", from: 10, of: stored,
            isContinuation: true,
            [
                .start(), .attempt("request 10- If-Range: \"v1\""), .end(lost, "\(lostLine), link 500"),
                .attempt("request 10- If-Range: \"v1\""),
            ]),
        TransferScript(
            "once bytes have arrived the condition is the validator of their answer, if it has one", from: 10,
            of: stored, isContinuation: true,
            [
                .start(), .attempt("request 10- If-Range: \"v1\""),
                .head(206, ["Content-Range: bytes 10-99/100"], "begin 100"), .bytes(10),
                .end(lost, "\(lostLine), link 500"), .attempt("request 20-"),
            ]),
        TransferScript(
            "the whole instead of the rest of stored bytes has changed", from: 10, of: stored, isContinuation: true,
            [
                .start(), .attempt("request 10- If-Range: \"v1\""), .head(200, ["ETag: \"v1\""], "end changed, cancel"),
            ]),
        TransferScript(
            "not once a part of the rest has arrived", from: 10, of: stored, isContinuation: true,
            [
                .start(), .attempt("request 10- If-Range: \"v1\""),
                .head(206, ["Content-Range: bytes 10-99/100", "ETag: \"v1\""], "begin 100"), .bytes(10),
                .end(lost, "\(lostLine), link 500"), .attempt("request 20- If-Range: \"v1\""),
                .head(200, ["ETag: \"v1\""]), .bytes(100, "only 20..<100, wait is over"), .end("end"),
            ]),
        TransferScript(
            "bytes that were read before are compared, and the request has no condition", from: 10, of: stored,
            [
                .start(), .attempt("request 10-"), .head(200, ["ETag: \"v1\""], "begin ?"),
                .bytes(20, "only 10..<20"), .end("end"),
            ]),
        TransferScript(
            "an answer that is made for each request starts over", continues: false,
            [
                .start(), .attempt(), .head(200, ["ETag: \"v1\""], "begin ?"), .bytes(30),
                .end(.truncated, "log a: \(TransferError.truncated.description). It is retried., link 500"), .attempt(),
                .head(200, ["ETag: \"v2\""], "begin ?"), .bytes(9, "wait is over"), .end("end"),
            ]),
        TransferScript(
            "a failure after the last byte of a range is no failure", range: part,
            [
                .start(), .attempt("request 20-59"), .head(206, ["Content-Range: bytes 20-59/100"], "begin 100"),
                .bytes(40), .end(lost, "end"),
            ]),
        TransferScript(
            "a part shorter than its announcement is retried after a delay", range: part,
            [
                .start(), .attempt("request 20-59"), .head(206, ["Content-Range: bytes 20-59/100"], "begin 100"),
                .bytes(20), .end("log a: \(TransferError.truncated.description). It is retried., link 500"),
                .attempt("request 40-59"), .head(206, ["Content-Range: bytes 40-59/100"]), .bytes(20, "wait is over"),
                .end("end"),
            ]),
        TransferScript(
            "a part shorter than the request is followed at once, and loses its limit", from: 20,
            [
                .start(), .attempt("request 20- part 10"), .head(206, ["Content-Range: bytes 20-29/100"], "begin 100"),
                .bytes(10), .end("attempt"), .attempt("request 30-"),
                .head(206, ["Content-Range: bytes 30-99/100"]), .bytes(70, "wait is over"), .end("end"),
            ]
        ) { $0.longestPart = 10 },
        TransferScript(
            "an answer longer than the range ends with its last byte", range: part,
            [
                .start(), .attempt("request 20-59"), .head(200, ["Content-Length: 100"], "begin 100"),
                .bytes(10, "ignored"), .bytes(40, "only 10..<40"), .bytes(50, "only 0..<10, end, cancel"),
                .end(.cancelled, ""),
            ]),
        TransferScript(
            "an answer that ends with the range keeps its connection", range: part,
            [
                .start(), .attempt("request 20-59"), .head(200, ["Content-Length: 60"], "begin 60"),
                .bytes(60, "only 20..<60"), .end("end"),
            ]),
        TransferScript(
            "bytes that the receiver does not take arrive again", range: part,
            [
                .start(), .attempt("request 20-59"), .head(200, "begin ?"), .untaken(30, "only 20..<30"),
                .bytes(30, "only 20..<30"), .bytes(30, "end, cancel"),
            ]),
        TransferScript(
            "another part: the whole is requested, once and without a condition", range: part, from: 10, of: stored,
            isContinuation: true,
            [
                .start(), .attempt("request 30-59 If-Range: \"v1\""),
                .head(206, ["Content-Range: bytes 0-59/100"], "cancel"), .bytes(9, "ignored"),
                .end(.cancelled, "attempt"), .attempt("request in parts"),
                .head(206, ["Content-Range: bytes 0-59/100"]), .end("end 206"),
            ]),
        TransferScript(
            "another part that has ended before the cancellation", range: part,
            [
                .start(), .attempt("request 20-59"), .head(206, "cancel"), .end("attempt"),
                .attempt("request in parts"), .head(200, ["Content-Length: 60"], "begin 60"),
                .bytes(60, "only 20..<60, wait is over"), .end("end"),
            ]),
        TransferScript(
            "another part whose connection is lost is retried as it was", range: part,
            [
                .start(), .attempt("request 20-59"), .head(206, "cancel"), .end(lost, "\(lostLine), link 500"),
                .attempt("request 20-59"),
            ]),
        TransferScript(
            "a coded rest: the whole is requested, once", from: 30,
            [
                .start(), .attempt("request 30-"), .end(coded, "attempt"), .attempt(),
                .end(coded, "end \(coded)"),
            ]),
        TransferScript(
            "the rest of a decoded answer is requested as the whole",
            [
                .start(), .attempt(), .head(200, ["ETag: \"v1\""], isDecoded: true, "begin ?"), .bytes(30),
                .end(lost, "\(lostLine), link 500"), .attempt(), .head(200, ["ETag: \"v1\""], isDecoded: true),
                .bytes(40, "only 30..<40, wait is over"), .end("end"),
            ]),
        TransferScript(
            "a coded part of a file that is read in parts is an error", from: 30,
            [
                .start(), .attempt("request 30- in parts"),
                .end(coded, "end \(coded)"),
            ]
        ) { $0.isReadInParts = true },
        TransferScript(
            "internet radio has no rest",
            [.start(), .attempt(), .head(200, ["icy-name: x"], "begin ?"), .bytes(30), .end(lost, "end \(lost)")]),
        TransferScript(
            "internet radio that has not begun is retried",
            [
                .start(), .attempt(), .head(200, ["ICY-BR: 128"], "begin ?"), .end(lost, "\(lostLine), link 500"),
                .attempt(),
            ]),
    ]

    @Test("Ends", arguments: ends)
    func isOver(script: TransferScript) { script.run() }

    @Test("Attempts and the rest", arguments: attempts)
    func rest(script: TransferScript) { script.run() }

    private static let running: [(String, [TransferStep])] = [
        ("requesting", []), ("at the head", [.head(200, "begin ?")]),
        ("in the body", [.head(200, "begin ?"), .bytes(3)]),
        ("in a refusal", [.head(503)]), ("in another part", [.head(206, "cancel")]),
        ("at an empty rest", [.head(416)]),
    ]

    @Test("Cancelled while a request runs: it is cancelled, and ends once", arguments: running)
    func cancelledRequest(name: String, steps: [TransferStep]) {
        TransferScript(
            name, from: 5,
            [.start(), .attempt("request 5- in parts")]
                + steps.map { step in
                    // Content begins at the offset.
                    guard case .event(.headArrived(let head)) = step.input, head.status == 200 else { return step }
                    return .head(206, ["Content-Range: bytes 5-99/100"], "begin 100")
                } + [.cancel("cancel"), .end(.cancelled, "end cancelled"), .cancel(""), .end("")]
        ) { $0.isReadInParts = true }.run()
    }

    private static let waits: [TransferScript] = [
        TransferScript(
            "before the first attempt", [.start(), .cancel("turn"), .attempt("end cancelled"), .attempt("")]),
        TransferScript(
            "while it waits for the network",
            [.start(), .attempt(), .end(lost, "\(lostLine), link 500"), .cancel("turn"), .attempt("end cancelled")]),
        TransferScript(
            "while it waits for the service",
            [
                .start(), .attempt(), .head(503),
                .end("log a: the server answers with status 503. It is retried., server 500"), .cancel("turn"),
                .attempt("end cancelled"), .attempt(""),
            ]),
        TransferScript(
            "when the request has just failed: nothing waits",
            [.start(), .attempt(), .cancel("cancel"), .end(lost, "end cancelled")]
        ),
        TransferScript(
            "when the service has just refused: nothing waits",
            [.start(), .attempt(), .head(503), .cancel("cancel"), .end("end cancelled")]),
        TransferScript(
            "when the answer has just ended, it is complete",
            [.start(), .attempt(), .head(200, "begin ?"), .cancel("cancel"), .end("end")]),
        TransferScript(
            "when another part has just ended", range: part,
            [.start(), .attempt("request 20-59"), .head(206, "cancel"), .cancel("cancel"), .end("end changed")]),
        TransferScript(
            "when a page has just ended", at: ["https://x/", "https://y/"],
            [
                .start(), .attempt("request https://x/", ranks: [0, 0]), .head(200, "begin ?"),
                .text("<html>", "refused, cancel"), .cancel("cancel"), .end(.cancelled, "end cancelled"),
            ]),
    ]

    @Test("Cancelled between requests", arguments: waits)
    func cancelledWait(script: TransferScript) { script.run() }

    @Test("An answer is of use until it is cancelled, given up or over")
    func wantsAnswer() {
        func machine(_ events: [TransferMachine.Event]) -> TransferMachine {
            var machine = TransferMachine(
                RequestedBytes(
                    TransferRequest(url: "https://a/b", range: Self.part), from: 0, of: ResourceVersion(),
                    continues: true), AddressChoice([], retries: nil), TransferRetries(for: .playback))
            for event in events { _ = machine.handle(event) }
            return machine
        }
        let begun: [TransferMachine.Event] = [.started, .attemptBegins(ranks: [])]
        let content = ResponseHead(script: 206, ["Content-Range: bytes 20-59/100"])
        #expect(!machine([.started]).wantsAnswer)
        #expect(machine(begun).wantsAnswer)
        #expect(machine(begun + [.headArrived(content)]).wantsAnswer)
        #expect(machine(begun + [.headArrived(ResponseHead(script: 503, []))]).wantsAnswer)
        #expect(!machine(begun + [.headArrived(ResponseHead(script: 206, []))]).wantsAnswer)
        #expect(machine(begun + [.headArrived(ResponseHead(script: 204, []))]).wantsAnswer)
        #expect(!machine(begun + [.cancelled]).wantsAnswer)
    }
}
