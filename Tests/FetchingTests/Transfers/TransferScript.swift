import PlayerTestSupport
import Testing

@testable import Manifests
@testable import Media
@testable import Network
@testable import Fetching

/// One event of a transfer, and the expected effects as text.
struct TransferStep {
    enum Input {
        case event(TransferMachine.Event)
        /// A piece of the body. `isTaken`: whether the receiver takes it.
        case piece([UInt8], isTaken: Bool)
    }

    let input: Input
    let effects: String

    static func start(_ effects: String = "attempt") -> TransferStep { step(.started, effects) }

    static func attempt(_ effects: String = "request", ranks: [Int] = []) -> TransferStep {
        step(.attemptBegins(ranks: ranks), effects)
    }

    /// - Parameter fields: as `Name: value`.
    static func head(_ status: Int, _ fields: [String], isDecoded: Bool = false, _ effects: String = "") -> TransferStep
    {
        let head = ResponseHead(script: status, fields)
        return step(.headArrived(isDecoded ? head.decoded : head), effects)
    }

    static func head(_ status: Int, _ effects: String = "") -> TransferStep { head(status, [], effects) }

    static func bytes(_ count: Int, _ effects: String = "") -> TransferStep {
        TransferStep(input: .piece([UInt8](repeating: 1, count: count), isTaken: true), effects: effects)
    }

    /// Bytes that the receiver does not take.
    static func untaken(_ count: Int, _ effects: String) -> TransferStep {
        TransferStep(input: .piece([UInt8](repeating: 1, count: count), isTaken: false), effects: effects)
    }

    static func text(_ text: String, _ effects: String) -> TransferStep {
        TransferStep(input: .piece(Array(text.utf8), isTaken: true), effects: effects)
    }

    static func end(_ error: TransferError, _ effects: String) -> TransferStep { step(.answerEnded(error), effects) }

    /// The answer is complete.
    static func end(_ effects: String) -> TransferStep { step(.answerEnded(nil), effects) }

    static func link(_ effects: String = "attempt") -> TransferStep { step(.linkChanged, effects) }

    static func cancel(_ effects: String) -> TransferStep { step(.cancelled, effects) }

    private static func step(_ event: TransferMachine.Event, _ effects: String) -> TransferStep {
        TransferStep(input: .event(event), effects: effects)
    }
}

/// A transfer, the events that happen to it, and the expected effects.
struct TransferScript: CustomTestStringConvertible {
    let testDescription: String
    var request = TransferRequest(url: "https://a/b")
    var offset: Int64 = 0
    var version = ResourceVersion()
    var purpose = RetrySchedule.Purpose.playback
    var isContinuation = false
    var continues = true
    /// The alternative addresses; none for that of the request.
    var addresses: [String] = []
    var retries: Int?
    let steps: [TransferStep]

    init(
        _ name: String, range: ByteRange? = nil, from offset: Int64 = 0, of version: ResourceVersion = .init(),
        for purpose: RetrySchedule.Purpose = .playback, isContinuation: Bool = false, continues: Bool = true,
        at addresses: [String] = [], retries: Int? = nil, _ steps: [TransferStep],
        changing change: (inout TransferRequest) -> Void = { _ in }
    ) {
        (testDescription, self.offset, self.version, self.purpose) = (name, offset, version, purpose)
        (self.isContinuation, self.continues) = (isContinuation, continues)
        (self.addresses, self.retries, self.steps) = (addresses, retries, steps)
        request.range = range
        change(&request)
    }

    /// Runs the script.
    func run() {
        let alternatives = addresses.map { Alternatives.Address(url: $0, base: $0) }
        var machine = TransferMachine(
            RequestedBytes(
                request, from: offset, of: version, isContinuation: isContinuation, continues: continues),
            AddressChoice(alternatives, retries: retries), TransferRetries(for: purpose))
        for (number, step) in steps.enumerated() {
            let effects =
                switch step.input {
                case .event(let event): machine.handle(event).map { $0.text }
                case .piece(let bytes, let isTaken): Self.receive(bytes, isTaken, &machine)
                }
            #expect(effects.joined(separator: ", ") == step.effects, "\(testDescription): step \(number)")
        }
    }

    private static func receive(_ bytes: [UInt8], _ isTaken: Bool, _ machine: inout TransferMachine) -> [String] {
        switch bytes.withUnsafeBytes({ machine.receive($0) }) {
        case .ignored: return ["ignored"]
        case .refused(let effects): return ["refused"] + effects.map { $0.text }
        case .wanted(let part):
            let wanted = part == 0..<bytes.count ? [] : ["only \(part.lowerBound)..<\(part.upperBound)"]
            guard isTaken else { return wanted }
            let taken = machine.taken(part, of: bytes.count)
            return wanted + (taken.endsWait ? ["wait is over"] : [])
                + (taken.workingAddress.map { ["\($0.url) works"] } ?? []) + taken.effects.map { $0.text }
        }
    }
}

extension ResponseHead {
    /// - Parameter fields: as `Name: value`.
    init(script status: Int, _ fields: [String]) {
        self.init(
            status: status,
            headers: fields.map { field in
                let colon = field.firstIndex(of: ":")!
                return HeaderField(String(field[..<colon]), String(field[colon...].dropFirst(2)))
            }, effectiveURL: "https://a/b")
    }
}

extension TransferRequest {
    /// The request as text, without the parts that all requests for the resource share.
    var script: String {
        var words = ["request"]
        if !url.utf8.elementsEqual("https://a/b".utf8) { words.append(url) }
        if let range { words.append("\(range.from)-\(range.upTo.map { "\($0 - 1)" } ?? "")") }
        if let longestPart { words.append("part \(longestPart)") }
        for field in headers { words.append("\(field.name): \(field.value)") }
        if isReadInParts { words.append("in parts") }
        if let firstByteTimeout { words.append("within \(firstByteTimeout) ms") }
        return words.joined(separator: " ")
    }
}

extension TransferMachine.Effect {
    fileprivate var text: String {
        switch self {
        case .attempt: "attempt"
        case .request(let request): request.script
        case .begin(_, let length): "begin \(length.map { "\($0)" } ?? "?")"
        case .cancelRequest: "cancel"
        case .waitForTurn: "turn"
        case .waitForServer(let delay): "server \(delay / 1_000_000)"
        case .waitForLink(let delay): "link \(delay / 1_000_000)"
        case .addressFailed(let address, let isOfHost): "\(address.url) fails\(isOfHost ? " as its host" : "")"
        case .addressWorks(let address): "\(address.url) works"
        case .log(let line): "log \(line)"
        case .end(nil): "end"
        case .end(.cancelled?): "end cancelled"
        case .end(.changed?): "end changed"
        case .end(.tooLarge?): "end too large"
        case .end(.refused(let refusal)?): "end \(refusal.status)\(refusal.subStatus.map { "/\($0)" } ?? "")"
        case .end(.transfer(let error)?): "end \(error)"
        }
    }
}
