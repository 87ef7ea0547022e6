import Foundation
import Glibc
import HTTPServer
import Library
import Media
import Platform

/// One run of ffmpeg: its stream grows in a file, and segments are read as soon as they are complete.
///
/// Thread: any; `run` on one that waits for the program.
/// `@unchecked Sendable` is safe because `changed` guards the mutable state.
final class TrackEncoding: @unchecked Sendable {
    enum Outcome: Equatable {
        case done
        case failed
        /// The track was dropped from the queue for later requests.
        case dropped
    }

    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    let stream: ServedAAC
    /// The path of the music, for the log.
    let name: String
    private let music: OpenedFile
    private let changed = NSCondition()
    // Guarded by `changed`.
    private var index: ADTSIndex
    private var outcome: Outcome?
    /// The file of the stream, while it grows and afterwards.
    private var file: OpenedFile?

    init(_ track: Track, _ stream: ServedAAC, from music: OpenedFile) {
        name = track.path
        self.stream = stream
        self.music = music
        index = ADTSIndex(stream)
    }

    /// The complete index, after `done`.
    var finishedIndex: ADTSIndex { locked { index } }

    private func locked<Value>(_ work: () -> Value) -> Value {
        changed.lock()
        defer {
            changed.broadcast()
            changed.unlock()
        }
        return work()
    }

    // MARK: Waiting

    /// The length in seconds up to which the whole track is waited for: its encoding takes a moment.
    private static let short: Int64 = 60

    /// Waits for the encoder's first output, at most `seconds`: most failures come at once. For a short track it waits
    /// for the end.
    /// - Returns: nil while the encoder runs.
    func firstSign(within seconds: Double) -> Outcome? {
        let end = Date(timeIntervalSinceNow: seconds)
        let isShort = stream.heardCount < Self.short * Int64(stream.sampleRate)
        changed.lock()
        defer { changed.unlock() }
        while outcome == nil, isShort || index.count == 0, changed.wait(until: end) {}
        return outcome
    }

    enum Segment {
        case bytes([UInt8])
        /// There is no such segment, and never will be.
        case none(Outcome)
    }

    /// Waits until the segment is complete, and reads it.
    func segment(_ number: Int) throws(SystemError) -> Segment {
        changed.lock()
        while outcome == nil, index.segment(number) == nil { changed.wait() }
        let (range, file, outcome) = (index.segment(number), file, outcome)
        changed.unlock()
        if let outcome, outcome != .done { return .none(outcome) }
        guard let range, let file else { return .none(.done) }
        return .bytes(try ContentBody([.file(file, range)]).bytes())
    }

    /// Ends the encoding before it began.
    func drop() { end(.dropped) }

    func end(_ outcome: Outcome) { locked { self.outcome = self.outcome ?? outcome } }

    // MARK: The encoder

    /// Encodes into `path`, and returns when the stream is complete.
    /// - Parameters:
    ///   - program: the path of ffmpeg.
    ///   - limit: the time limit in seconds.
    ///   - starting: allows one start at a time.
    func run(
        _ program: String, to path: String, limit: Int64, clock: any MonotonicClock, starting: Lock
    ) throws(Failure) {
        let target: Target
        do throws(SystemError) {
            target = try Target(path)
            let reading = try OpenedFile(path)
            locked { file = reading }
        } catch {
            throw Failure(description: error.description)
        }
        let encoder = EncoderProcess(program, bitRate: stream.bitRate, sampleRate: stream.sampleRate)
        var position: Int64 = 0
        var failure: String?
        do throws(Failure) {
            try encoder.run(from: music.file.descriptor, limit: limit, clock: clock, starting: starting) { bytes in
                do throws(SystemError) { try target.file.write(bytes, at: position) } catch {
                    failure = error.description
                    return false
                }
                position += Int64(bytes.count)
                failure = locked { appended(bytes) }
                return failure == nil
            }
        } catch {
            throw failure.map { Failure(description: $0) } ?? error
        }
        do throws(SystemError) { try target.file.synchronize() } catch { throw Failure(description: error.description) }
        if let failure = locked({ finished() }) { throw Failure(description: failure) }
    }

    /// The file that is written.
    private final class Target {
        let file: File

        init(_ path: String) throws(SystemError) { file = try File(creating: path, mode: 0o600) }
    }

    private func appended(_ bytes: UnsafeRawBufferPointer) -> String? {
        do throws(MediaError) { try index.append(bytes) } catch { return error.reason }
        return nil
    }

    private func finished() -> String? {
        do throws(MediaError) { try index.finish() } catch { return error.reason }
        return nil
    }
}
