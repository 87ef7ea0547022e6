import PCM
import Platform
import Player

/// The options of `tonearm play`.
struct PlayOptions: Equatable {
    /// The device; nil: the first sound card.
    var device: String?
    var normalization = LoudnessNormalizationMode.off
    /// The pre-amplification in dB.
    var preAmp = 4
    /// The volume in percent; nil: the last volume.
    var volume: Int?
    /// The start position in the first file, in seconds.
    var start = 0.0
    /// The sample format; nil: the widest one of the device.
    var sampleFormat: SampleFormat?
    /// The rate to which all audio is converted, in Hz; nil: only rates that the device does not have are converted.
    var sampleRate: Int?
    /// Whether DSD is sent as DSD over PCM.
    var sendsDSD = false
    var bufferMilliseconds = 200
    var periodCount = 4
    var json = false
    /// The address of a content service; nil without one.
    var service: String?
    /// The files for the service: the token, and certificates of private authorities.
    var tokenFile: String?
    var authorities: String?
    /// Files, folders and products of the service, in order.
    var paths: [String] = []

    private static let options: [Arguments.Option] = [
        .init("--device", value: "NAME"), .init("--normalize", value: "off|track|album"),
        .init("--pre-amp", value: "DB"),
        .init("--volume", value: "PERCENT"), .init("--start", value: "SECONDS"), .init("--format", value: "FORMAT"),
        .init("--buffer", value: "MILLISECONDS"), .init("--periods", value: "COUNT"),
        .init("--rate", value: "HZ"), .init("--dsd", value: "pcm|dop"),
        .init("--service", value: "URL"), .init("--token-file", value: "FILE"), .init("--ca-file", value: "FILE"),
        .init("--json"),
    ]

    static let names = options.map { $0.name }

    init() {}

    init(parsing words: [String]) throws(UsageError) {
        let arguments = try Arguments(parsing: words, knowing: Self.options)
        if let name = arguments.value(of: "--device") {
            if name.isEmpty { throw UsageError("--device needs a name. List the devices with `tonearm devices`.") }
            device = name == "default" ? nil : name
        }
        if let name = arguments.value(of: "--normalize") { normalization = try Self.mode(name) }
        if let text = arguments.value(of: "--pre-amp") { preAmp = try Self.integer(text, "--pre-amp", -30...30, "dB") }
        if let text = arguments.value(of: "--volume") {
            let digits = text.utf8.last == UInt8(ascii: "%") ? String(text.dropLast()) : text
            volume = try Self.integer(digits, "--volume", 0...100, "percent")
        }
        if let text = arguments.value(of: "--start") { start = try Self.seconds(text) }
        if let name = arguments.value(of: "--format") { sampleFormat = try Self.format(name) }
        if let text = arguments.value(of: "--rate") {
            sampleRate = try Self.integer(text, "--rate", 8000...768_000, "hertz")
        }
        if let name = arguments.value(of: "--dsd") { sendsDSD = try Self.sendsDSD(name) }
        if let text = arguments.value(of: "--buffer") {
            bufferMilliseconds = try Self.integer(text, "--buffer", 10...10_000, "milliseconds")
        }
        if let text = arguments.value(of: "--periods") {
            periodCount = try Self.integer(text, "--periods", 2...64, "periods")
        }
        service = arguments.value(of: "--service")
        if let service, let fault = ServiceURL.fault(in: service) { throw UsageError("--service\(fault).") }
        tokenFile = arguments.value(of: "--token-file")
        authorities = arguments.value(of: "--ca-file")
        json = arguments.has("--json")
        paths = arguments.operands
        if paths.isEmpty { throw UsageError("nothing to play. Name files or folders: `tonearm play FOLDER`.") }
        if let empty = paths.firstIndex(where: { $0.isEmpty }) {
            throw UsageError("path number \(empty + 1) is empty.")
        }
    }

    private static func integer(
        _ text: String, _ option: String, _ range: ClosedRange<Int>, _ unit: String
    ) throws(UsageError) -> Int {
        guard let value = Int(text), range.contains(value) else {
            throw UsageError(
                "\(option) \(text): must be a whole number of \(unit) from \(range.lowerBound) to \(range.upperBound).")
        }
        return value
    }

    private static func seconds(_ text: String) throws(UsageError) -> Double {
        guard let value = Double(decimal: text), value >= 0 else {
            throw UsageError("--start \(text): must be a number of seconds from 0 on, like 90 or 12.5.")
        }
        return value
    }

    private static func mode(_ name: String) throws(UsageError) -> LoudnessNormalizationMode {
        switch name {
        case "off": return .off
        case "track": return .track
        case "album": return .album
        default: throw UsageError("--normalize \(name): must be off, track or album.")
        }
    }

    private static func sendsDSD(_ name: String) throws(UsageError) -> Bool {
        switch name {
        case "pcm": return false
        case "dop": return true
        default: throw UsageError("--dsd \(name): must be pcm or dop.")
        }
    }

    private static func format(_ name: String) throws(UsageError) -> SampleFormat {
        let names = SampleFormat.allCases.map { "\($0.name)" }
        guard let index = names.firstIndex(of: name) else {
            let suggestion = Suggestion.text(for: name, among: names)
            throw UsageError("--format \(name): must be one of \(names.joined(separator: ", ")).\(suggestion)")
        }
        return SampleFormat.allCases[index]
    }
}
