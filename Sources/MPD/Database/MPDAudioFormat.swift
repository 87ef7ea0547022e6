import Appliance

/// The form of samples in a filter: `44100:16:2`, `44100:f:2`, `dsd64:2`, and a star for any value.
struct MPDAudioFormat: Equatable, Sendable {
    enum Samples: Equatable, Sendable {
        case bits(Int)
        case float, dsd
    }

    /// Frames per second; bytes per second for DSD, as in MPD; nil for any rate.
    private(set) var rate: Int?
    private(set) var samples: Samples?
    private(set) var channels: Int?

    init(rate: Int, samples: Samples, channels: Int) {
        self.rate = rate
        self.samples = samples
        self.channels = channels
    }

    /// The largest number after `dsd`, as in `dsd64`.
    private static let largestDSD = 4096

    /// - Parameter allowsAny: whether stars are allowed.
    init(parsing text: String, allowsAny: Bool) throws(MPDFailure) {
        var rest = Array(text.utf8)[...]
        func takeStar() -> Bool {
            guard allowsAny, rest.first == UInt8(ascii: "*") else { return false }
            rest.removeFirst()
            return true
        }
        func takeColon() -> Bool {
            guard rest.first == UInt8(ascii: ":") else { return false }
            rest.removeFirst()
            return true
        }
        if rest.starts(with: "dsd".utf8), let number = Self.take(from: &rest, after: 3), number <= Self.largestDSD {
            // MPD's rate of DSD counts bytes: dsd64 has 2,822,400 bits a second.
            (rate, samples) = (number * 44_100 / 8, .dsd)
            guard takeColon() else { throw Self.mistake("Channel count missing") }
        } else {
            if !takeStar() {
                guard let number = Self.take(from: &rest) else { throw Self.mistake("Failed to parse the sample rate") }
                guard (1...1_000_000_000).contains(number) else { throw Self.mistake("Invalid sample rate: \(number)") }
                rate = number
            }
            guard takeColon() else { throw Self.mistake("Sample format missing") }
            if !takeStar() { samples = try Self.takeSamples(from: &rest) }
            guard takeColon() else { throw Self.mistake("Channel count missing") }
        }
        if !takeStar() {
            guard let number = Self.take(from: &rest) else { throw Self.mistake("Failed to parse the channel count") }
            guard (1...8).contains(number) else { throw Self.mistake("Invalid channel count: \(number)") }
            channels = number
        }
        if !rest.isEmpty {
            throw Self.mistake("Extra data after channel count: \(String(decoding: rest, as: UTF8.self))")
        }
    }

    private static func takeSamples(from rest: inout ArraySlice<UInt8>) throws(MPDFailure) -> Samples {
        if rest.first == UInt8(ascii: "f") {
            rest.removeFirst()
            return .float
        }
        if rest.starts(with: "dsd".utf8) {
            rest.removeFirst(3)
            return .dsd
        }
        guard let number = take(from: &rest) else { throw mistake("Failed to parse the sample format") }
        guard [8, 16, 24, 32].contains(number) else { throw mistake("Invalid sample format: \(number)") }
        return .bits(number)
    }

    /// Takes a number.
    private static func take(from rest: inout ArraySlice<UInt8>, after count: Int = 0) -> Int? {
        let digits = rest.dropFirst(count).prefix { (0x30...0x39).contains($0) }
        guard !digits.isEmpty, digits.count <= 10 else { return nil }
        let number = digits.reduce(Int64(0)) { $0 * 10 + Int64($1 - 0x30) }
        rest = rest.dropFirst(count + digits.count)
        return Int(clamping: number)
    }

    private static func mistake(_ text: String) -> MPDFailure { MPDFailure(.argument, text) }

    /// Returns whether the filter includes a format.
    func includes(_ format: MPDAudioFormat) -> Bool {
        (rate == nil || rate == format.rate) && (samples == nil || samples == format.samples)
            && (channels == nil || channels == format.channels)
    }

    /// The most bytes of the line.
    static let lineSize = 72

    /// Adds the line `Format: 44100:16:2`.
    func write(to line: inout MPDLineWriter) {
        guard let rate, let samples, let channels else { return }
        line.key("Format")
        // DSD rates that are not a multiple of this one have no short name.
        let unit = 44_100 * 64 / 8
        if samples == .dsd, rate % unit == 0 {
            line.word("dsd")
            line.number(Int64(rate / unit) * 64)
        } else {
            line.number(Int64(rate))
            line.byte(":")
            switch samples {
            case .bits(let bits): line.number(Int64(bits))
            case .float: line.byte("f")
            case .dsd: line.word("dsd")
            }
        }
        line.byte(":")
        line.number(Int64(channels))
        line.endLine()
    }
}
