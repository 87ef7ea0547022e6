import Output
import PCM

/// The changes to the samples between the decoder and the converter of the DAC (docs/playback.md, 8).
///
///     let path = engine.signalPath
///     print(path?.description ?? "no device is open")        // "rate converted, volume scaled"
public struct SignalPath: Equatable, Sendable {
    /// A step that changes samples.
    public enum Change: String, Equatable, Sendable, CaseIterable {
        /// The sample rate is converted.
        case rate
        /// Channels are mixed. Copying a channel to another position is no change.
        case channels
        /// Loudness normalization scales the samples.
        case loudness
        /// The volume is set on the samples: the card has no mixer, or one in coarse steps.
        case volume
        /// The device is muted on the samples.
        case mute
        /// The device takes fewer bits than the audio has, so the audio is dithered.
        case depth
        /// A sound server follows, which may change samples.
        case server
        /// Another plug-in of alsa-lib follows, which may change samples.
        case plugIn = "plug-in"

        /// - Parameter name: a raw value.
        public init?(named name: String) {
            guard let change = Self.allCases.first(where: { $0.rawValue.utf8.elementsEqual(name.utf8) })
            else { return nil }
            self = change
        }
    }

    /// The changes in the order of the path.
    public let changes: [Change]
    /// Whether the device gets DSD over PCM, to which neither volume nor normalization apply.
    public let isDSDOverPCM: Bool

    /// Whether every sample of the decoder reaches the card unchanged, as far as is known. The card's own mixer is not
    /// considered.
    public var isBitPerfect: Bool { changes.isEmpty }

    /// Makes a path from changes that were read from another form, such as JSON.
    public init(_ changes: [Change], isDSDOverPCM: Bool = false) {
        (self.changes, self.isDSDOverPCM) = (changes, isDSDOverPCM)
    }

    /// - Parameters:
    ///   - context: the context of the product that is heard.
    ///   - device: the open device.
    init(_ context: PlaybackContext, _ device: DeviceConfiguration, _ scaling: SampleScaling) {
        isDSDOverPCM = context.isDSDOverPCM
        guard !isDSDOverPCM else {
            changes = (scaling.isSilent ? [.mute] : []) + Self.changes(on: device.route)
            return
        }
        var changes: [Change] = []
        if context.convertedSampleRate != nil { changes.append(.rate) }
        if device.adaptation?.kind == .mixed { changes.append(.channels) }
        if scaling.isMuted {
            changes.append(.mute)
        } else {
            if scaling.isNormalized { changes.append(.loudness) }
            if scaling.isVolumeScaled { changes.append(.volume) }
        }
        // Rate-converted audio always has more bits than a converter, so their loss is not reported.
        if context.convertedSampleRate == nil, context.audioBitDepth ?? 0 > device.keptBits { changes.append(.depth) }
        self.changes = changes + Self.changes(on: device.route)
    }

    private static func changes(on route: DeviceRoute) -> [Change] {
        switch route {
        case .direct: []
        case .server: [.server]
        case .plugIn: [.plugIn]
        }
    }
}

extension SignalPath: CustomStringConvertible {
    /// The text for the user: "bit-perfect", or "rate converted, volume scaled".
    public var description: String {
        var phrases = changes.isEmpty ? ["bit-perfect"] : changes.map { Self.phrase($0) }
        if isDSDOverPCM { phrases.append("DSD over PCM") }
        return phrases.joined(separator: ", ")
    }

    /// The text for the user about steps that are left out; nil when there are none.
    public var note: String? { isDSDOverPCM ? "software volume and normalization do not apply" : nil }

    private static func phrase(_ change: Change) -> String {
        switch change {
        case .rate: "rate converted"
        case .channels: "channels mixed"
        case .loudness: "loudness normalized"
        case .volume: "volume scaled"
        case .mute: "muted"
        case .depth: "bits dithered"
        case .server: "through a sound server"
        case .plugIn: "through a plug-in of ALSA"
        }
    }
}

/// The parts of the gain of a product.
struct SampleScaling: Equatable, Sendable {
    var isNormalized = false
    var isVolumeScaled = false
    var isMuted = false
    /// Whether nothing is heard: muted, or the volume is 0.
    var isSilent = false
}
