import Platform
import Player

/// The lines of `tonearm play --json`: one object a line, with the same members in the same order; unknown values are
/// null. Times are in seconds, rates in Hz, bit rates in bits per second. `tonearm play --help` documents it.
enum JSONMessages {
    /// - Parameter now: the state at the moment of the message.
    static func value(of message: PlaybackMessage, now: NowPlaying) -> JSONValue {
        switch message {
        case .mediaProductTransition(let transition):
            [
                "event": "transition", "previous": JSONValue(transition.previous?.productId),
                "file": JSONValue(transition.active?.productId), "title": JSONValue(transition.context?.title),
                "artist": JSONValue(transition.context?.artist), "album": JSONValue(transition.context?.album),
                "duration": JSONValue(seconds: transition.context?.duration),
                "format": PlaybackJSON.format(transition.context),
                "device": PlaybackJSON.device(now.device), "path": PlaybackJSON.path(now.path),
            ]
        case .playbackStateChanged(let state):
            [
                "event": "state", "state": .string(name(of: state)),
                "file": JSONValue(now.context == nil ? nil : now.file), "position": JSONValue(seconds: now.position),
                "device": PlaybackJSON.device(now.device), "path": PlaybackJSON.path(now.path),
            ]
        case .playbackQualityChanged(let context):
            [
                "event": "quality", "file": JSONValue(context.productId), "format": PlaybackJSON.format(context),
                "device": PlaybackJSON.device(now.device), "path": PlaybackJSON.path(now.path),
            ]
        case .error(let error):
            self.error(file: error.mediaProduct?.productId, code: error.code, message: error.message)
        case .streamingPrivilegesRevoked(let otherDevice):
            // The code is the service's own number of the refusal.
            self.error(file: now.file, code: "a4006", message: PlaySession.takeover(by: otherDevice))
        }
    }

    /// Returns the position, sent once a second.
    static func position(_ now: NowPlaying) -> JSONValue {
        [
            "event": "position", "file": JSONValue(now.file), "position": JSONValue(seconds: now.position),
            "duration": JSONValue(seconds: now.context?.duration),
        ]
    }

    static func error(file: String?, code: String, message: String) -> JSONValue {
        ["event": "error", "file": JSONValue(file), "code": .string(code), "message": .string(message)]
    }

    private static func name(of state: PlaybackState) -> String {
        switch state {
        case .idle: "idle"
        case .playing: "playing"
        case .notPlaying: "notPlaying"
        case .stalled: "stalled"
        }
    }
}
