import PCM

/// The loudness of a decoded stream.
public struct LoudnessMeasurement {
    /// The finished meter.
    public let meter: LoudnessMeter
    /// Why the stream was measured only up to this point; nil for a whole one.
    public private(set) var error: MediaError?

    /// Measures audio to its end, to an error, or to the first change of its format.
    /// - Parameter proceeds: called now and then with the number of measured frames; returns false to stop.
    /// - Returns: nil when it was stopped, and for a format that cannot be measured.
    public init?(_ decoder: any AudioDecoder, while proceeds: (Int64) -> Bool) {
        let format = decoder.properties.format
        guard let meter = LoudnessMeter(format) else { return nil }
        self.meter = meter
        let buffer = UnsafeMutableBufferPointer<Int32>.allocate(capacity: 16_384 * format.channelCount)
        defer { buffer.deallocate() }
        var isAtEnd = false
        do throws(MediaError) {
            while !isAtEnd {
                guard proceeds(meter.frameCount) else { return nil }
                switch try decoder.read(into: buffer) {
                case .frames(let count):
                    meter.add(UnsafeBufferPointer(rebasing: buffer[..<(count * format.channelCount)]))
                case .format(let next): isAtEnd = next != format
                case .notYet, .end: isAtEnd = true
                }
            }
        } catch {
            self.error = error
        }
        meter.finish()
    }
}
