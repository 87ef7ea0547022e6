/// The limits of values in headers. Larger values are damage or an attack; the largest real files stay far below.
package enum AudioLimits {
    /// The largest accepted time in units of a container or a manifest: the time since 1970 in units of 100 ns, and
    /// small enough that sums of a few do not overflow.
    package static let largestTime: Int64 = 1 << 60

    /// The accepted rates, in Hz. DSD64 as PCM would be 2,822,400; the highest rate of PCM that exists is 768,000,
    /// twice that is allowed.
    package static let sampleRates = 1...1_536_000
    static let channelCounts = 1...8
    package static let bitDepths = 4...32
    /// The largest accepted size of sound data, in bytes: more than any medium holds, and small enough that arithmetic
    /// on it does not overflow.
    package static let largestData: Int64 = 1 << 56

    /// - Parameter container: for the message: "WAV".
    static func sampleRate(_ rate: UInt64, of container: StaticString) throws(Interruption) -> Int {
        guard rate > 0 else { throw .damaged(what: "\(container) with a sample rate of 0 Hz") }
        guard rate <= UInt64(sampleRates.upperBound) else {
            throw unsupported(container, "a sample rate of ", Int64(clamping: rate), " Hz")
        }
        return Int(rate)
    }

    /// - Parameter container: for the message, as above.
    static func channelCount(_ count: Int, of container: StaticString) throws(Interruption) -> Int {
        guard channelCounts.contains(count) else { throw unsupported(container, "", Int64(count), " channels") }
        return count
    }

    /// A number in a header is not supported. One function, because each message takes a kilobyte.
    @inline(never)
    static func unsupported(
        _ container: StaticString, _ before: StaticString, _ number: Int64, _ after: StaticString
    ) -> Interruption {
        .unsupported(what: "\(container) with \(before)\(number)\(after)")
    }

    /// Bits per second of frames of this size; nil when `Int` cannot hold the number.
    static func bitRate(bytesPerFrame: Int, sampleRate: Int) -> Int? {
        Int(exactly: Int64(bytesPerFrame) * 8 * Int64(sampleRate))
    }
}
