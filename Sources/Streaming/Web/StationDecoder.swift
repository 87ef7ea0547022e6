import Fetching
import Media
import Network
import PCM
import Platform
import Playback

/// Decodes a station. When its answer ends, for whatever reason, the station is requested again, without end
/// (docs/playback.md, 18.9). Playback continues with the audio that the station sends then.
///
/// Thread: the decoder thread. A new connection blocks.
final class StationDecoder: FetchingDecoder {
    /// Audio of this length, in seconds, shows that a connection works: the delays start over.
    private static let working = 10

    private let network: any ServiceNetwork
    private let medium: MediumAccess
    private let connect: () throws(PlayerError) -> RestartingDecoder.Content
    private let progressID: Int
    private var content: RestartingDecoder.Content
    private var reading: ReadingPosition
    private var schedule = RetrySchedule(.playback)
    private var state = State.connected(frames: 0, newFormat: nil)
    /// The damage in earlier connections.
    private var earlierIncidents = 0
    private(set) var failure: PlayerError?

    private enum State {
        /// - Parameters:
        ///   - frames: that were read since the connection.
        ///   - newFormat: the format at its beginning, until it is read.
        case connected(frames: Int64, newFormat: PCMFormat?)
        /// The wait for the next connection.
        case waiting(Pause)
    }

    /// - Parameter connect: requests the station again.
    init(
        _ content: RestartingDecoder.Content, over network: any ServiceNetwork, _ medium: MediumAccess,
        connect: @escaping () throws(PlayerError) -> RestartingDecoder.Content
    ) {
        (self.content, self.network, self.medium, self.connect) = (content, network, medium, connect)
        progressID = medium.stream.newID()
        reading = ReadingPosition(content.decoder.properties.format)
    }

    deinit { medium.stream.proceeds(progressID) }

    var properties: AudioProperties {
        var properties = content.decoder.properties
        properties.format = reading.first
        properties.frameCount = nil
        return properties
    }

    var metadata: TrackMetadata { content.decoder.metadata }

    var damage: DamageReport {
        var damage = content.decoder.damage
        damage.incidents += earlierIncidents
        damage.truncated = false
        return damage
    }

    var audioQuality: AudioQuality? { content.audioQuality }
    var isFetched: Bool { false }

    func fetchAhead() {}

    func hasEnough(at position: Double) -> Bool { true }

    func read(into buffer: UnsafeMutableBufferPointer<Int32>) throws(MediaError) -> DecodedRun {
        while true {
            if case .waiting(let pause) = state {
                guard pause.isOver else { return .notYet }
                guard try reconnect() else { continue }
            }
            if case .connected(let frames, let new?) = state {
                state = .connected(frames: frames, newFormat: nil)
                if let change = reading.change(to: new) { return .format(change) }
            }
            do throws(MediaError) {
                let run = try content.decoder.read(into: buffer)
                switch run {
                case .frames(let count): proceed(count)
                case .format(let new): reading.changed(to: new)
                case .notYet: break
                case .end:
                    lose("the station has ended its answer")
                    continue
                }
                return run
            } catch {
                guard error.isOfAnswer else { throw error }
                lose("the connection to the station is lost")
            }
        }
    }

    /// Only the position changes: a station has nothing before and after its present moment.
    func seek(toFrame frame: Int64) throws(MediaError) { reading.seek(to: frame) }

    func whenReadable(_ wake: @escaping @Sendable () -> Void) {
        if case .waiting(let pause) = state { pause.whenOver(wake) } else { content.decoder.whenReadable(wake) }
    }

    // MARK: Connections

    private func proceed(_ frames: Int) {
        reading.read(frames)
        guard case .connected(let earlier, _) = state else { return }
        let heard = earlier + Int64(frames)
        state = .connected(frames: heard, newFormat: nil)
        if heard >= Int64(Self.working * reading.format.sampleRate) { schedule = RetrySchedule(.playback) }
    }

    /// Begins the wait for the next connection.
    private func lose(_ reason: String) {
        if case .connected(let heard, _) = state, heard > 0 { Log.warning("\(reason): it is requested again") }
        failure = nil
        // Failures of the network are retried without end.
        guard let delay = schedule.delay(after: .network) else { return }
        let pause = Pause()
        state = .waiting(pause)
        medium.stream.willRetry(progressID, after: .network, delay: delay)
        network.waitForLink(atMost: delay) { _ in pause.end() }
    }

    /// - Returns: whether the station sends audio again. Otherwise the next wait has begun.
    private func reconnect() throws(MediaError) -> Bool {
        state = .connected(frames: 0, newFormat: nil)
        medium.stream.proceeds(progressID)
        do throws(PlayerError) {
            let new = try connect()
            earlierIncidents += content.decoder.damage.incidents
            content = new
            state = .connected(frames: 0, newFormat: new.decoder.properties.format)
            return true
        } catch let refusal {
            if case .media(let error) = refusal.cause, !error.isOfAnswer {
                failure = refusal
                throw error
            }
            lose("the station does not answer")
            return false
        }
    }
}

/// A wait that ends once.
///
/// Thread: any. `@unchecked Sendable` is safe because `lock` guards the mutable state.
private final class Pause: @unchecked Sendable {
    private let lock = Lock()
    private var hasEnded = false
    private var wake: (@Sendable () -> Void)?

    var isOver: Bool { lock.withLock { hasEnded } }

    func end() {
        let wake = lock.withLock {
            hasEnded = true
            defer { self.wake = nil }
            return self.wake
        }
        wake?()
    }

    /// Calls `wake` once after the end.
    func whenOver(_ wake: @escaping @Sendable () -> Void) {
        let isOver = lock.withLock {
            if !hasEnded { self.wake = wake }
            return hasEnded
        }
        if isOver { wake() }
    }
}
