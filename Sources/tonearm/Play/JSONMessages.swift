import Output
import Platform
import Player

/// What `tonearm play --json` writes: one object a line, its members always the same and in this order; what is not
/// known is null. Times are in seconds, rates in Hz, bit rates in bits per second. `tonearm play --help` documents it.
enum JSONMessages {
    /// - Parameter now: at the moment of the message.
    /// - Returns: nil for what has no line.
    static func value(of message: PlaybackMessage, now: NowPlaying) -> JSONValue? {
        switch message {
        case .mediaProductTransition(let transition):
            [
                "event": "transition", "previous": text(transition.previous?.productId),
                "file": text(transition.active?.productId), "title": text(transition.context?.title),
                "artist": text(transition.context?.artist), "album": text(transition.context?.album),
                "duration": seconds(transition.context?.duration), "format": format(transition.context),
                "device": device(now.device),
            ]
        case .playbackStateChanged(let state):
            [
                "event": "state", "state": .string(name(of: state)),
                "file": state == .idle ? nil : text(now.context == nil ? nil : now.file),
                "position": state == .idle ? nil : seconds(now.position), "device": device(now.device),
            ]
        case .playbackQualityChanged(let context):
            ["event": "quality", "file": text(context.productId), "format": format(context), "device": device(now.device)]
        case .error(let error):
            self.error(file: error.mediaProduct?.productId, code: error.code, message: error.message)
        case .streamingPrivilegesRevoked:
            nil
        }
    }

    /// Where playback is, once a second.
    static func position(_ now: NowPlaying) -> JSONValue {
        [
            "event": "position", "file": text(now.file), "position": seconds(now.position),
            "duration": seconds(now.context?.duration),
        ]
    }

    static func error(file: String?, code: String, message: String) -> JSONValue {
        ["event": "error", "file": text(file), "code": .string(code), "message": .string(message)]
    }

    private static func name(of state: PlaybackState) -> String {
        switch state {
        case .idle: "idle"
        case .playing: "playing"
        case .notPlaying: "notPlaying"
        case .stalled: "stalled"
        }
    }

    private static func format(_ context: PlaybackContext?) -> JSONValue {
        guard let context else { return nil }
        return [
            "codec": text(context.audioCodec), "sampleRate": integer(context.audioSampleRate),
            "bitDepth": integer(context.audioBitDepth), "bitRate": integer(context.audioBitRate),
        ]
    }

    private static func device(_ device: DeviceConfiguration?) -> JSONValue {
        guard let device else { return nil }
        return [
            "name": text(device.device), "sampleRate": integer(device.sampleRate), "channels": integer(device.channelCount),
            "sampleFormat": .string("\(device.sampleFormat.name)"), "significantBits": integer(device.significantBits),
        ]
    }

    static func text(_ text: String?) -> JSONValue { text.map { .string($0) } ?? nil }
    static func integer(_ number: Int?) -> JSONValue { number.map { .integer(Int64($0)) } ?? nil }

    /// To the millisecond.
    static func seconds(_ seconds: Double?) -> JSONValue { seconds.map { .real(($0 * 1000).rounded() / 1000) } ?? nil }
}
