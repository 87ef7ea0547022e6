import PCM

/// DSD as a container describes it.
struct DSDDescription {
    /// Bits of a channel in a second.
    let bitRate: Int
    let channelCount: Int
    /// Bytes of each channel, as far as it is known.
    let byteCount: Int64?

    /// The accepted bit rates: from DSD64 to DSD512, of 44.1 and 48 kHz.
    private static let rates = 2_822_400...24_576_000

    /// - Parameter container: for the message: "DSF".
    static func rate(_ rate: UInt32, of container: StaticString) throws(Interruption) -> Int {
        let known = Int(clamping: rate)
        guard rates.contains(known), known % (8 * DSDFilter.step) == 0 else {
            throw AudioLimits.unsupported(container, "a sample rate of ", Int64(rate), " Hz")
        }
        return known
    }

    /// The description for words instead of PCM. The last word may be half of the file.
    func words(of track: TrackDescription) -> TrackDescription {
        var track = track
        track.properties.format = .dsd(bitRate: bitRate, channelCount: channelCount)
        track.properties.frameCount = byteCount.map { ($0 + 1) / 2 }
        return track
    }

    func track(in container: AudioProperties.Container, _ metadata: TrackMetadata) -> TrackDescription {
        let format = PCMFormat(
            sampleRate: bitRate / (8 * DSDFilter.step), channelCount: channelCount, bitDepth: DSDFilter.bitDepth)
        let step = Int64(DSDFilter.step)
        let properties = AudioProperties(
            format: format, frameCount: byteCount.map { ($0 + step - 1) / step }, container: container, codec: .dsd,
            bitRate: bitRate * channelCount)
        return TrackDescription(properties: properties, metadata: metadata)
    }
}

extension AudioProperties {
    /// Returns the bits of one channel of DSD in a second, from the sample rate of the decoded audio.
    public static func bitRate(ofDecodedDSD sampleRate: Int) -> Int { sampleRate * 8 * DSDFilter.step }
}
