import PCM

/// The format of the samples in a packet.
struct WavPackSetup: Equatable {
    let sampleRate: UInt32
    let channelCount: Int
    /// Significant bits, at the upper end of `byteCount` bytes.
    let bitDepth: Int
    let byteCount: Int
    let isFloat: Bool
    /// Whether the packet has all of the signal.
    let isLossless: Bool
    /// Whether a frame is a byte of DSD. Then the rate is that of bytes.
    let isDSD: Bool

    /// The format of the decoded frames of PCM.
    func format() throws(Interruption) -> PCMFormat {
        guard AudioLimits.bitDepths.contains(bitDepth), 1...4 ~= byteCount else {
            throw AudioLimits.unsupported("WavPack", "", Int64(bitDepth), " bits")
        }
        return PCMFormat(
            sampleRate: try AudioLimits.sampleRate(UInt64(sampleRate), of: "WavPack"),
            channelCount: try AudioLimits.channelCount(channelCount, of: "WavPack"),
            bitDepth: isFloat ? 32 : bitDepth)
    }

    /// - Parameter frameCount: frames of WavPack; nil when it is not known.
    func track(
        in container: AudioProperties.Container, frameCount: Int64?, _ metadata: TrackMetadata
    ) throws(Interruption) -> TrackDescription {
        if isDSD { return try dsd(frameCount).track(in: container, metadata) }
        let properties = AudioProperties(
            format: try format(), frameCount: frameCount, container: container,
            codec: isLossless ? .wavpack : .wavpackLossy, bitRate: nil)
        return TrackDescription(properties: properties, metadata: metadata)
    }

    /// The description for words of DSD; nil for PCM.
    func words(of track: TrackDescription, frameCount: Int64?) throws(Interruption) -> TrackDescription? {
        isDSD ? try dsd(frameCount).words(of: track) : nil
    }

    private func dsd(_ byteCount: Int64?) throws(Interruption) -> DSDDescription {
        let (rate, isBeyond) = sampleRate.multipliedReportingOverflow(by: 8)
        return DSDDescription(
            bitRate: try DSDDescription.rate(isBeyond ? .max : rate, of: "WavPack"),
            channelCount: try AudioLimits.channelCount(channelCount, of: "WavPack"), byteCount: byteCount)
    }
}
