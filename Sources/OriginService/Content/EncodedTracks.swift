import Foundation
import Glibc
import Media
import PCM
import Platform

/// A quality that is less than the file: the service's names of docs/service.md.
enum EncodedQuality: String, CaseIterable, Sendable {
    case low, high

    init?(serviceName: String) { self.init(rawValue: serviceName.lowercased()) }

    var serviceName: String { rawValue.uppercased() }

    /// In bits per second.
    var bitRate: Int {
        switch self {
        case .low: 96_000
        case .high: 320_000
        }
    }
}

/// Encodes tracks as AAC with ffmpeg, once, into a folder of bounded size. What is encoded is served while the rest of
/// the track follows, and read by an index that is made once.
///
/// Thread: any. Who wants a segment blocks until it is encoded, and nobody else.
/// `@unchecked Sendable` is safe because `state` guards what changes.
final class EncodedTracks: @unchecked Sendable {
    private struct State {
        /// Those that are encoded, or wait for it, by the paths of their files.
        var encodings: [String: TrackEncoding] = [:]
        /// Those that wait, the one that was asked for last at the end: it is next.
        var waiting: [(path: String, encoding: TrackEncoding, limit: Int64)] = []
        var runCount = 0
        /// Those that could not be made, and when that is tried again. Their names change with the tracks' files.
        var failed: [String: Int64] = [:]
        /// Of files that are complete, the one that was used last at the end.
        var indexes: [(path: String, index: ADTSIndex)] = []
    }

    /// More would only take longer, each of them.
    private static let mostAtOnce = max(2, ProcessInfo.processInfo.activeProcessorCount)
    /// Each holds its music open.
    private static let mostWaiting = 64
    /// An hour takes 7 kB.
    private static let mostIndexes = 256
    /// A full medium may be why.
    private static let failureLasts: Int64 = 3_600_000_000_000
    /// What an encoder has for a short track, in seconds; for a longer one it has as much as the music lasts beside
    /// that. The smallest boards are many times as fast.
    private static let leastTime: Int64 = 600
    /// How long a request waits for the first sign of the encoder, in seconds.
    private static let patience = 3.0

    private let program: String
    private let folder: String
    private let limit: Int64
    private let clock: any MonotonicClock
    private let lock = Lock()
    /// Guarded by `lock`.
    private var state = State()
    private let starting = Lock()
    /// One at a time: two would remove more than is too much.
    private let removing = Lock()

    /// - Parameters:
    ///   - program: the path of ffmpeg.
    ///   - folder: is created when it is missing, and holds nothing else.
    ///   - limit: of all files together, in bytes.
    init(
        program: String, folder: String, limit: Int64, clock: any MonotonicClock = SystemMonotonicClock()
    ) throws(SystemError) {
        self.clock = clock
        self.program = program
        self.folder = folder
        self.limit = limit
        try Folder.create(folder, mode: 0o700)
        // What an interruption has left.
        for entry in try Folder.entries(of: folder) where entry.name.hasSuffix(".new") {
            try Folder.removeFile("\(folder)/\(entry.name)")
        }
    }

    /// Begins to encode, unless it is done.
    /// - Parameter file: the track's.
    /// - Returns: nil when the track cannot be encoded, which is in the log; lossless is served then.
    func track(
        _ track: Track, _ quality: EncodedQuality, from file: OpenedFile, _ encryption: ContentEncryption?
    ) -> FragmentedAAC? {
        guard let stream = AACStream(track, quality) else { return nil }
        let path = "\(folder)/\(track.id)-\(track.version)-\(quality.rawValue).aac"
        let encoded = EncodedTrack(track: track, stream: stream, music: file, path: path, tracks: self)
        switch begin(encoded) {
        case .finished: break
        case .failed: return nil
        case .runs(let encoding):
            if encoding.firstSign(within: Self.patience) == .failed { return nil }
        }
        return FragmentedAAC(encoded, encryption: encryption)
    }

    /// How many are not tried at present.
    var failureCount: Int { lock.withLock { state.failed.count } }

    fileprivate enum Stage {
        case finished
        case failed
        case runs(TrackEncoding)
    }

    fileprivate func begin(_ track: EncodedTrack) -> Stage {
        let now = clock.now()
        let (stage, dropped, isNew): (Stage, TrackEncoding?, Bool) = lock.withLock {
            if let encoding = state.encodings[track.path] { return (.runs(encoding), nil, false) }
            if isThere(track.path) { return (.finished, nil, false) }
            // All of them: nobody asks any more for a file that is gone or has changed.
            state.failed = state.failed.filter { now < $0.value }
            guard state.failed[track.path] == nil else { return (.failed, nil, false) }
            let encoding = TrackEncoding(track.track, track.stream, from: track.music)
            state.encodings[track.path] = encoding
            let seconds = track.stream.heardCount / Int64(track.stream.sampleRate)
            state.waiting.append((track.path, encoding, Self.leastTime + seconds))
            var dropped: TrackEncoding?
            if state.waiting.count > Self.mostWaiting {
                let oldest = state.waiting.removeFirst()
                state.encodings[oldest.path] = nil
                dropped = oldest.encoding
            }
            let isNew = state.runCount < Self.mostAtOnce
            if isNew { state.runCount += 1 }
            return (.runs(encoding), dropped, isNew)
        }
        dropped?.end(.dropped)
        if isNew { Thread.detachNewThread { [self] in work() } }
        return stage
    }

    /// Whether the file is there. One without a byte is of an ffmpeg that found nothing, and did not say so.
    private func isThere(_ path: String) -> Bool { FileStamp(of: path).map { $0.size > 0 } ?? false }

    // MARK: Encoding

    /// Encodes those that wait, until there is none.
    private func work() {
        while true {
            let next = lock.withLock {
                let next = state.waiting.popLast()
                if next == nil { state.runCount -= 1 }
                return next
            }
            guard let (path, encoding, limit) = next else { return }
            let new = path + ".new"
            do throws(TrackEncoding.Failure) {
                try encoding.run(program, to: new, limit: limit, clock: clock, starting: starting)
                do throws(SystemError) {
                    // Power loss here: the next start removes it, and the track is encoded again.
                    try Folder.renameFile(new, to: path)
                } catch {
                    throw TrackEncoding.Failure(description: error.description)
                }
                remember(encoding.finishedIndex, of: path)
                removeUnused(but: path)
                end(encoding, path, .done)
            } catch {
                try? Folder.removeFile(new)
                Log.warning("\(encoding.name): cannot be encoded: \(error)")
                end(encoding, path, .failed)
            }
        }
    }

    private func end(_ encoding: TrackEncoding, _ path: String, _ outcome: TrackEncoding.Outcome) {
        lock.withLock {
            state.encodings[path] = nil
            if outcome == .failed { state.failed[path] = clock.now() + Self.failureLasts }
        }
        encoding.end(outcome)
    }

    // MARK: Reading

    /// Waits until the segment is encoded, and reads its bytes.
    /// - Returns: nil when the track could not be encoded.
    fileprivate func segment(_ number: Int, of track: EncodedTrack) throws(SystemError) -> [UInt8]? {
        // It may be removed, or lose its turn, meanwhile.
        for _ in 0..<3 {
            switch begin(track) {
            case .failed: return nil
            case .runs(let encoding):
                switch try encoding.segment(number) {
                case .bytes(let bytes): return bytes
                case .none(.failed): return nil
                case .none(.dropped), .none(.done): continue
                }
            case .finished:
                let file: OpenedFile
                do throws(SystemError) { file = try OpenedFile(track.path) } catch {
                    if error.isMissingFile { continue }
                    throw error
                }
                use(track.path)
                guard let index = try index(of: track, in: file) else { continue }
                // An encoder that found damage may have ended early: silence follows.
                guard let range = index.segment(number) else { return [] }
                return try ContentBody([.file(file, range)]).bytes()
            }
        }
        return nil
    }

    /// - Returns: nil for a file that is no stream.
    private func index(of track: EncodedTrack, in file: OpenedFile) throws(SystemError) -> ADTSIndex? {
        let known = lock.withLock { () -> ADTSIndex? in
            guard let place = state.indexes.firstIndex(where: { $0.path == track.path }) else { return nil }
            let known = state.indexes.remove(at: place)
            state.indexes.append(known)
            return known.index
        }
        if let known { return known }
        // Of an earlier run of the origin.
        var index = ADTSIndex(track.stream)
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 18, alignment: 16)
        defer { buffer.deallocate() }
        var position: Int64 = 0
        do throws(MediaError) {
            while true {
                let count: Int
                do throws(SystemError) { count = try file.file.read(into: buffer, at: position) } catch {
                    throw .source(.medium(error))
                }
                if count == 0 { break }
                try index.append(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
                position += Int64(count)
            }
            try index.finish()
        } catch {
            if case .source(.medium(let error)) = error { throw error }
            // Is made again.
            try? Folder.removeFile(track.path)
            return nil
        }
        remember(index, of: track.path)
        return index
    }

    private func remember(_ index: ADTSIndex, of path: String) {
        lock.withLock {
            state.indexes.removeAll { $0.path == path }
            if state.indexes.count == Self.mostIndexes { state.indexes.removeFirst() }
            state.indexes.append((path, index))
        }
    }

    // MARK: The folder

    /// Files are removed in the order of their use.
    private func use(_ path: String) {
        try? FileManager.default.setAttributes([.modificationDate: Date()], ofItemAtPath: path)
    }

    /// Leaves the files alone that are being made.
    private func removeUnused(but kept: String) {
        removing.withLock {
            let names = ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? [])
            let files = names.filter { !$0.hasSuffix(".new") }.compactMap { name in
                let path = "\(folder)/\(name)"
                return FileStamp(of: path).map { (path: path, stamp: $0) }
            }
            var total = files.reduce(Int64(0)) { $0 + $1.stamp.size }
            for file in files.sorted(by: { $0.stamp.modified < $1.stamp.modified }) where file.path != kept {
                if total <= limit { return }
                total -= file.stamp.size
                try? Folder.removeFile(file.path)
            }
        }
    }
}

/// A track in one of the qualities, encoded or not yet.
///
/// Thread: any.
struct EncodedTrack: Sendable {
    fileprivate let track: Track
    let stream: AACStream
    fileprivate let music: OpenedFile
    fileprivate let path: String
    fileprivate let tracks: EncodedTracks

    /// The frames of a segment, with their headers. Waits until they are encoded.
    /// - Returns: nil when the track could not be encoded.
    func segment(_ number: Int) throws(MediaError) -> [UInt8]? {
        do throws(SystemError) { return try tracks.segment(number, of: self) } catch { throw .source(.medium(error)) }
    }
}
