import Foundation
import Glibc
import HTTPServer
import Library
import Media
import PCM
import Platform

/// A quality below that of the file, with the service's name from docs/service.md.
enum EncodedQuality: String, CaseIterable, Sendable {
    case low, high

    init?(serviceName: String) { self.init(rawValue: serviceName.lowercased()) }

    var serviceName: String { rawValue.uppercased() }

    /// The bit rate in bits per second.
    var bitRate: Int {
        switch self {
        case .low: 96_000
        case .high: 320_000
        }
    }
}

/// Encodes tracks as AAC with ffmpeg, once, into a folder of bounded size. Complete segments are served while the rest
/// of the track is encoded. An index, made once, finds them in the file.
///
/// Thread: any. A request for a segment blocks until it is encoded, and blocks no other request.
/// `@unchecked Sendable` is safe because `state` guards the mutable state.
final class EncodedTracks: @unchecked Sendable {
    private struct State {
        /// The tracks that are being encoded, or wait for it, by the paths of their files.
        var encodings: [String: TrackEncoding] = [:]
        /// The waiting tracks. The one that was requested last is at the end, and is next.
        var waiting: [(path: String, encoding: TrackEncoding, limit: Int64)] = []
        var runCount = 0
        /// The tracks that could not be encoded, and the time of the next attempt. Their names change with the tracks'
        /// files.
        var failed: [String: Int64] = [:]
        /// The indexes of complete files; the one that was used last is at the end.
        var indexes: [(path: String, index: ADTSIndex)] = []
    }

    /// The most encoders at once. With more, each of them would only take longer.
    private static let mostAtOnce = max(2, ProcessInfo.processInfo.activeProcessorCount)
    /// The most waiting tracks. Each has its music file open.
    private static let mostWaiting = 64
    /// The most indexes in memory. An index takes 7 kB for an hour of music.
    private static let mostIndexes = 256
    /// How long a failure is remembered, in nanoseconds. A full medium may be the reason.
    private static let failureLasts: Int64 = 3_600_000_000_000
    /// The time limit of an encoder, in seconds; the length of the music is added. The smallest boards are many times
    /// as fast.
    private static let leastTime: Int64 = 600
    /// How long a request waits for the encoder's first output, in seconds.
    private static let patience = 3.0

    private let program: String
    private let folder: String
    private let limit: Int64
    private let clock: any MonotonicClock
    private let lock = Lock()
    /// Guarded by `lock`.
    private var state = State()
    private let starting = Lock()
    /// Held while files are removed: two threads would remove more than is needed.
    private let removing = Lock()

    /// - Parameters:
    ///   - program: the path of ffmpeg.
    ///   - folder: created when it is missing; it holds nothing else.
    ///   - limit: the limit of all files together, in bytes.
    init(
        program: String, folder: String, limit: Int64, clock: any MonotonicClock = SystemMonotonicClock()
    ) throws(SystemError) {
        self.clock = clock
        self.program = program
        self.folder = folder
        self.limit = limit
        try Folder.create(folder, mode: 0o700)
        // Remove the files of an interruption.
        for entry in try Folder.entries(of: folder) where entry.name.hasSuffix(".new") {
            try Folder.removeFile("\(folder)/\(entry.name)")
        }
    }

    /// Begins to encode, unless it is done.
    /// - Parameter file: the file of the track.
    /// - Returns: nil when the track cannot be encoded, which is logged; lossless is then served.
    func track(
        _ track: Track, _ quality: EncodedQuality, from file: OpenedFile, _ encryption: ContentEncryption?
    ) -> FragmentedAAC? {
        guard let stream = ServedAAC(track, quality) else { return nil }
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

    /// The number of tracks that are not tried at present.
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
            // Remove all expired failures: files that are gone or have changed are not requested again.
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

    /// Returns whether the file is there. An empty one comes from an ffmpeg that found no audio and reported no error.
    private func isThere(_ path: String) -> Bool { FileStamp(of: path).map { $0.size > 0 } ?? false }

    // MARK: Encoding

    /// Encodes waiting tracks, until there is none.
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
        // Retries, because the track may be removed or dropped from the queue meanwhile.
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
        // Index a file of an earlier run of the origin.
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
            // The file is encoded again.
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

    /// Marks a file as used: files are removed in the order of their use.
    private func use(_ path: String) {
        try? FileManager.default.setAttributes([.modificationDate: Date()], ofItemAtPath: path)
    }

    /// Removes files beyond the limit, but not those that are being written.
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
    let stream: ServedAAC
    fileprivate let music: OpenedFile
    fileprivate let path: String
    fileprivate let tracks: EncodedTracks

    /// Returns the frames of a segment, with their headers. Waits until they are encoded.
    /// - Returns: nil when the track could not be encoded.
    func segment(_ number: Int) throws(MediaError) -> [UInt8]? {
        do throws(SystemError) { return try tracks.segment(number, of: self) } catch { throw .source(.medium(error)) }
    }
}
