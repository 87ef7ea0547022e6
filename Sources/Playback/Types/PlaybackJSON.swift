import Output
import PCM
import Platform

/// The JSON of playback, shared by `tonearm play --json` and the control socket. Rates are in Hz, bit rates in bits per
/// second. Any thread.
package enum PlaybackJSON {
    /// `codec`, `sampleRate`, `bitDepth`, `bitRate`, `quality`, `convertedSampleRate`; null without a context.
    package static func format(_ context: PlaybackContext?) -> JSONValue {
        guard let context else { return .null }
        return [
            "codec": JSONValue(context.audioCodec), "sampleRate": JSONValue(context.audioSampleRate),
            "bitDepth": JSONValue(context.audioBitDepth), "bitRate": JSONValue(context.audioBitRate),
            "quality": JSONValue(context.audioQuality.map { name($0) }),
            "convertedSampleRate": JSONValue(context.convertedSampleRate),
        ]
    }

    /// The name in the settings `[service] quality`.
    private static func name(_ quality: AudioQuality) -> String {
        switch quality {
        case .low: "low"
        case .high: "high"
        case .lossless: "lossless"
        case .hiRes, .hiResLossless: "hi-res-lossless"
        }
    }

    /// `name`, `sampleRate`, `channels`, `sampleFormat`, `significantBits`, `adaptation`; null while no device is open.
    package static func device(_ device: DeviceConfiguration?) -> JSONValue {
        guard let device else { return .null }
        return [
            "name": JSONValue(device.device), "sampleRate": JSONValue(device.sampleRate),
            "channels": JSONValue(device.channelCount), "sampleFormat": .string("\(device.sampleFormat.name)"),
            "significantBits": JSONValue(device.significantBits), "adaptation": adaptation(device.adaptation),
        ]
    }

    /// `bitPerfect`, `changes` (those of the samples), `dsdOverPCM`, and `note` (words for the user, or null); null
    /// while no device is open.
    package static func path(_ path: SignalPath?) -> JSONValue {
        guard let path else { return .null }
        return [
            "bitPerfect": .boolean(path.isBitPerfect),
            "changes": .array(path.changes.map { .string($0.rawValue) }),
            "dsdOverPCM": .boolean(path.isDSDOverPCM), "note": JSONValue(path.note),
        ]
    }

    /// `kind`, `channels` (of the audio) and `routing`; null when each channel is heard unchanged.
    private static func adaptation(_ adaptation: ChannelAdaptation?) -> JSONValue {
        guard let adaptation else { return .null }
        return [
            "kind": .string(adaptation.kind.rawValue), "channels": JSONValue(adaptation.sourceChannelCount),
            "routing": .string(adaptation.routing.rawValue),
        ]
    }
}
