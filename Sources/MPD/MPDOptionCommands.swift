import Appliance
import PCM
import Platform
import Player
import Queue

extension MPDCommand {
    /// The commands about modes. Modes that the queue does not have are refused.
    static let options = [
        MPDCommand("repeat", 1...1, .control) { (player, _, arguments) throws(MPDFailure) in
            let isOn = try MPDNumbers.boolean(arguments[0])
            let isSingle = player.contents.repeatMode == .one
            player.isRepeatOfSingle = false
            player.queue.setRepeatMode(!isOn ? .off : isSingle ? .one : .all)
            return .done
        },
        MPDCommand("single", 1...1, .control) { (player, _, arguments) throws(MPDFailure) in
            let mode = player.contents.repeatMode
            guard try isOn(arguments[0], mode: "single") else {
                if mode == .one { player.queue.setRepeatMode(player.isRepeatOfSingle ? .off : .all) }
                return .done
            }
            player.queue.setRepeatMode(.one)
            if mode == .off { player.isRepeatOfSingle = true }
            return .done
        },
        MPDCommand("random", 1...1, .control) { (player, _, arguments) throws(MPDFailure) in
            player.queue.setShuffled(try MPDNumbers.boolean(arguments[0]))
            return .done
        },
        MPDCommand("consume", 1...1, .control) { (_, _, arguments) throws(MPDFailure) in
            guard try isOn(arguments[0], mode: "consume") else { return .done }
            throw MPDFailure(.argument, "this player has no consume mode")
        },
        MPDCommand("crossfade", 1...1, .control) { (_, _, arguments) throws(MPDFailure) in
            guard try MPDNumbers.unsigned(arguments[0]) != 0 else { return .done }
            throw MPDFailure(.argument, "this player has no crossfade")
        },
        MPDCommand("mixrampdb", 1...1, .control) { (_, _, arguments) throws(MPDFailure) in
            guard try MPDNumbers.seconds(arguments[0]) != 0 else { return .done }
            throw MPDFailure(.argument, "this player has no mixramp")
        },
        MPDCommand("mixrampdelay", 1...1, .control) { (_, _, arguments) throws(MPDFailure) in
            if arguments[0].utf8.elementsEqual("nan".utf8) { return .done }
            guard try MPDNumbers.seconds(arguments[0]) > 0 else { return .done }
            throw MPDFailure(.argument, "this player has no mixramp")
        },
        MPDCommand("replay_gain_status", 0...0, .read) { player, _, _ in
            var output = MPDOutput()
            output.pair("replay_gain_mode", player.daemon.settings.configuration.normalization.mpdName.text)
            return .output(output)
        },
        MPDCommand("replay_gain_mode", 1...1, .control) { (player, _, arguments) throws(MPDFailure) in
            try player.setReplayGain(arguments[0])
        },
    ]

    private static func isOn(_ text: String, mode: StaticString) throws(MPDFailure) -> Bool {
        if text.utf8.elementsEqual("oneshot".utf8) {
            throw MPDFailure(.argument, "this player has no \(mode.text) oneshot")
        }
        guard text.utf8.elementsEqual("0".utf8) || text.utf8.elementsEqual("1".utf8) else {
            throw MPDFailure(.argument, "Unrecognized \(mode.text) mode, expected 0, 1, or oneshot")
        }
        return text.utf8.elementsEqual("1".utf8)
    }
}

extension MPDPlayer {
    fileprivate func setReplayGain(_ name: String) throws(MPDFailure) -> MPDStep {
        let wanted = LoudnessNormalizationMode.allCases.first { $0.mpdName.isEqual(to: name) }
        guard let mode = wanted ?? (name.utf8.elementsEqual("auto".utf8) ? .album : nil) else {
            throw MPDFailure(.argument, "Unrecognized replay gain mode")
        }
        do throws(SettingError) { _ = try daemon.settings.set(.normalization, to: mode.mpdName.text) } catch {
            throw MPDFailure(.system, error.description)
        }
        return .done
    }
}

extension LoudnessNormalizationMode {
    fileprivate var mpdName: StaticString {
        switch self {
        case .off: "off"
        case .track: "track"
        case .album: "album"
        }
    }
}
