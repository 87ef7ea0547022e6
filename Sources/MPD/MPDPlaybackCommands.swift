import Appliance
import Queue

extension MPDCommand {
    /// The commands that play.
    static let playback = [
        MPDCommand("play", 0...1, .control) { (player, _, arguments) throws(MPDFailure) in
            guard let place = arguments.first, !place.utf8.elementsEqual("-1".utf8) else { return player.play(nil) }
            return player.play(try player.entry(at: place))
        },
        MPDCommand("playid", 0...1, .control) { (player, _, arguments) throws(MPDFailure) in
            guard let id = arguments.first, !id.utf8.elementsEqual("-1".utf8) else { return player.play(nil) }
            return player.play(try player.entry(id))
        },
        MPDCommand("pause", 0...1, .control) { (player, _, arguments) throws(MPDFailure) in
            let isStopped = player.state == .stop
            guard let text = arguments.first else {
                if !isStopped { player.queue.toggle() }
                return .done
            }
            if try MPDNumbers.boolean(text) { player.queue.pause() } else if !isStopped { player.queue.play() }
            return .done
        },
        MPDCommand("stop", 0...0, .control) { player, _, _ in
            player.queue.stop()
            return .done
        },
        MPDCommand("next", 0...0, .control) { (player, _, _) throws(MPDFailure) in
            try player.checkIsPlaying()
            guard player.contents.upNext != nil else { return .done }
            player.queue.next()
            return player.play(nil)
        },
        MPDCommand("previous", 0...0, .control) { (player, _, _) throws(MPDFailure) in
            try player.checkIsPlaying()
            return player.play(player.entryBefore)
        },
        MPDCommand("seek", 2...2, .control) { (player, _, arguments) throws(MPDFailure) in
            let entry = try player.entry(at: arguments[0])
            return try player.seek(in: entry, to: arguments[1])
        },
        MPDCommand("seekid", 2...2, .control) { (player, _, arguments) throws(MPDFailure) in
            let entry = try player.entry(arguments[0])
            return try player.seek(in: entry, to: arguments[1])
        },
        MPDCommand("seekcur", 1...1, .control) { (player, _, arguments) throws(MPDFailure) in
            let text = arguments[0]
            let isRelative = text.utf8.first == UInt8(ascii: "+") || text.utf8.first == UInt8(ascii: "-")
            let seconds = try MPDNumbers.seconds(text)
            try player.checkIsPlaying()
            player.queue.seek(to: max(0, isRelative ? player.queue.position + seconds : seconds))
            return .done
        },
        MPDCommand("setvol", 1...1, .control) { (player, _, arguments) throws(MPDFailure) in
            player.daemon.volume.set(percent: try MPDNumbers.integer(arguments[0], 0...100))
            return .done
        },
        MPDCommand("volume", 1...1, .control) { (player, _, arguments) throws(MPDFailure) in
            player.daemon.volume.change(by: try MPDNumbers.integer(arguments[0], -100...100))
            return .done
        },
        MPDCommand("getvol", 0...0, .read) { player, _, _ in
            var output = MPDOutput()
            output.pair("volume", player.daemon.volume.isMuted ? 0 : player.daemon.volume.percent)
            return .output(output)
        },
    ]
}

extension MPDPlayer {
    fileprivate func checkIsPlaying() throws(MPDFailure) {
        if state == .stop { throw MPDFailure(.playerSync, "Not playing") }
    }

    /// The entry before the current one, even if much of the current one was heard. Clients that restart it instead
    /// check its position (`mpc cdprev`). For the first entry this is the entry itself, or with repeat the last one.
    fileprivate var entryBefore: EntryID? {
        let (order, repeats) = (contents.playOrder, contents.repeatMode != .off)
        guard let current = contents.current, let place = contents.index(of: current) else { return nil }
        return place > 0 ? order[place - 1] : repeats ? order.last : current
    }

    /// Plays an entry. nil resumes, or plays the current entry.
    fileprivate func play(_ entry: EntryID?) -> MPDStep {
        failure = nil
        if let entry {
            do throws(PlayQueueError) { try queue.select(entry) } catch { return .done }
        }
        if !contents.isEmpty { daemon.commands.perform(.play) }
        return .done
    }

    /// Seeks in an entry and plays it from the new position.
    fileprivate func seek(in entry: EntryID, to text: String) throws(MPDFailure) -> MPDStep {
        let seconds = try MPDNumbers.seconds(text)
        guard seconds >= 0 else { throw MPDFailure(.argument, "Negative value not allowed: \(text)") }
        let wasStopped = state == .stop
        if entry != contents.current {
            do throws(PlayQueueError) { try queue.select(entry) } catch { throw MPDFailure(error) }
        }
        queue.seek(to: seconds)
        if wasStopped { daemon.commands.perform(.play) }
        return .done
    }
}
