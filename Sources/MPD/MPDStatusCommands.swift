import Appliance
import Output
import PCM
import Player
import Queue

extension MPDCommand {
    /// The commands about the current state.
    static let status = [
        MPDCommand("status", 0...0, .read) { player, _, _ in player.answerStatus() },
        MPDCommand("currentsong", 0...0, .read) { player, client, _ in
            guard let current = player.contents.current, let place = player.contents.index(of: current) else {
                return .done
            }
            return player.songs([place], client)
        },
        MPDCommand("clearerror", 0...0, .control) { player, _, _ in
            player.failure = nil
            return .done
        },
        MPDCommand("stats", 0...0, .read) { (player, client, _) throws(MPDFailure) in player.statistics(client) },
        MPDCommand("outputs", 0...0, .read) { player, _, _ in
            var output = MPDOutput()
            output.pair("outputid", 0)
            output.pair("outputname", player.outputName)
            output.pair("plugin", "alsa")
            output.pair("outputenabled", player.daemon.focus.level == .none ? 0 : 1)
            return .output(output)
        },
        MPDCommand("enableoutput", 1...1, .admin) { (player, _, arguments) throws(MPDFailure) in
            try player.setOutput(arguments[0], isEnabled: true)
        },
        MPDCommand("disableoutput", 1...1, .admin) { (player, _, arguments) throws(MPDFailure) in
            try player.setOutput(arguments[0], isEnabled: false)
        },
        MPDCommand("toggleoutput", 1...1, .admin) { (player, _, arguments) throws(MPDFailure) in
            try player.setOutput(arguments[0], isEnabled: player.daemon.focus.level == .none)
        },
    ]
}

extension MPDPlayer {
    fileprivate func setOutput(_ number: String, isEnabled: Bool) throws(MPDFailure) -> MPDStep {
        guard try MPDNumbers.unsigned(number) == 0 else { throw MPDFailure(.noSuchObject, "No such audio output") }
        daemon.focus.set(isEnabled ? .full : .none)
        return .done
    }

    /// As in MPD, the duration of an entry that is not open yet comes from the library. A client that seeks to a
    /// percentage needs it right after `play`.
    fileprivate func answerStatus() -> MPDStep {
        let status = daemon.status
        guard state != .stop, status.context?.duration == nil, let current = contents.current,
            let path = contents.product(current)?.productId, path.utf8.first == UInt8(ascii: "/")
        else { return .output(self.status(nil)) }
        return .later { [self] answer in
            query { (result: Result<Double?, MPDFailure>) in
                let duration = self.contents.current == current ? try? result.get() : nil
                answer(.success(.output(self.status(duration))))
            } _: { database in
                var duration: Double?
                do throws(MPDFailure) {
                    try database?.forEachSong(at: [path]) { _, song in duration = song.duration }
                } catch { return .failure(error) }
                return .success(duration)
            }
        }
    }

    /// Returns the lines of `status`, in MPD's order.
    /// - Parameter knownDuration: the duration of the current entry in seconds, used while the entry is not open.
    private func status(_ knownDuration: Double?) -> MPDOutput {
        let (status, contents) = (daemon.status, contents)
        var output = MPDOutput()
        output.pair("volume", status.isMuted ? 0 : status.volumePercent)
        output.pair("repeat", contents.repeatMode == .off ? 0 : 1)
        output.pair("random", contents.isShuffled ? 1 : 0)
        output.pair("single", contents.repeatMode == .one ? 1 : 0)
        output.pair("consume", 0)
        output.pair("partition", "default")
        output.pair("playlist", versions.version)
        output.pair("playlistlength", contents.count)
        output.pair("mixrampdb", 0)
        output.pair("state", state.text)
        if let index = status.index, let entry = status.entry {
            output.pair("song", index)
            output.pair("songid", entry.id.number)
        }
        if state != .stop { write(status, status.context?.duration ?? knownDuration, to: &output) }
        if daemon.library?.isScanning == true { output.pair("updating_db", 1) }
        if let failure = failure ?? status.problems.first?.message { output.pair("error", failure) }
        if let next = contents.upNext, let index = contents.index(of: next) {
            output.pair("nextsong", index)
            output.pair("nextsongid", next.number)
        }
        return output
    }

    /// - Parameter duration: the duration in seconds; nil while it is unknown.
    private func write(_ status: DaemonStatus, _ duration: Double?, to output: inout MPDOutput) {
        func whole(_ seconds: Double) -> Int64 { Int64(max(0, min(seconds, 1e9))) }
        output.pair("time", "\(whole(status.position)):\(whole((duration ?? 0) + 0.5))")
        output.seconds("elapsed", status.position)
        output.pair("bitrate", (status.context?.audioBitRate ?? 0) / 1000)
        if let duration { output.seconds("duration", duration) }
        guard let context = status.context, let rate = context.audioSampleRate else { return }
        let bits = context.isDSDOverPCM ? "dsd\(rate / 44_100)" : "\(rate):\(context.audioBitDepth ?? 16)"
        output.pair("audio", "\(bits):\(status.device?.channelCount ?? 2)")
    }

    fileprivate func statistics(_ client: MPDClient) -> MPDStep {
        let uptime = uptime
        return .later { [self] answer in
            query(answer) { database -> Result<MPDAnswer, MPDFailure> in
                do throws(MPDFailure) {
                    let statistics = try database?.statistics()
                    var output = MPDOutput()
                    output.pair("uptime", uptime)
                    output.pair("playtime", 0)
                    output.pair("artists", statistics?.artists ?? 0)
                    output.pair("albums", statistics?.albums ?? 0)
                    output.pair("songs", statistics?.songs ?? 0)
                    output.pair("db_playtime", statistics?.playtime ?? 0)
                    output.pair("db_update", statistics?.updated ?? 0)
                    return .success(.output(output))
                } catch {
                    return .failure(error)
                }
            }
        }
    }
}

/// The state of playback, as clients know it.
enum MPDState {
    case play, pause, stop

    var text: String {
        switch self {
        case .play: "play"
        case .pause: "pause"
        case .stop: "stop"
        }
    }
}

extension MPDPlayer {
    /// A stalled entry counts as playing, because it continues by itself. A paused entry counts as stopped if it is
    /// closed and has no position.
    var state: MPDState {
        switch queue.playback {
        case .playing, .stalled: .play
        case .paused: queue.isLoaded || queue.position != 0 ? .pause : .stop
        case .stopped: .stop
        }
    }
}
