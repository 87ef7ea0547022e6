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

/// Encodes tracks as AAC with ffmpeg, once, into a folder of bounded size.
///
/// Thread: any. Who wants a track blocks while it is encoded, and nobody else.
/// `@unchecked Sendable` is safe because `isRunning` guards `running`, and nothing else changes.
final class EncodedTracks: @unchecked Sendable {
    private let program: String
    private let folder: String
    private let limit: Int64
    /// Of one file.
    private static let mostBytes = 1 << 30
    private let isRunning = Condition()
    // Guarded by `isRunning`.
    /// The paths of the files that are being made.
    private var running: Set<String> = []
    /// Those that could not be made, and when that is tried again. Their names change with the tracks' files.
    private var failed: [String: Int64] = [:]
    /// A full medium may be why.
    private static let failureLasts: Int64 = 3_600_000_000_000
    private let clock: any MonotonicClock
    /// One start at a time: a program that starts meanwhile would inherit the pipe of this one, and hold it open.
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

    /// - Parameter file: the track's.
    /// - Returns: nil when the track cannot be encoded, which is in the log; lossless is served then.
    func track(
        _ track: Track, _ quality: EncodedQuality, from file: OpenedFile, _ encryption: ContentEncryption?
    ) -> FragmentedAAC? {
        guard let frameCount = track.frameCount, track.isEncodable else { return nil }
        let rate = Self.rate(for: track.format.sampleRate)
        let original = Int64(track.format.sampleRate)
        let heardCount = (frameCount * Int64(rate) + original - 1) / original
        let path = "\(folder)/\(track.id)-\(track.version)-\(quality.rawValue).aac"
        do {
            let length = frameCount / original
            guard let bytes = try finished(path) ?? encodeOnce(file, to: path, rate: rate, quality, length: length)
            else { return nil }
            return try FragmentedAAC(bytes, heardCount: heardCount, encryption: encryption)
        } catch {
            Log.warning("\(track.path): cannot be encoded: \(error)")
            return nil
        }
    }

    private struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    /// Rates that AAC has stay; others become the nearest below.
    private static func rate(for rate: Int) -> Int {
        if [8000, 11_025, 12_000, 16_000, 22_050, 24_000, 32_000, 44_100, 48_000].contains(rate) { return rate }
        return rate % 44_100 == 0 ? 44_100 : 48_000
    }

    /// - Returns: nil when the track is not encoded, or was removed just now.
    private func finished(_ path: String) throws(Failure) -> [UInt8]? {
        do throws(SystemError) {
            let bytes = try File.contents(of: path, limit: Self.mostBytes)
            // Of an ffmpeg that found nothing in a pipe, and did not say so.
            if bytes.isEmpty { return nil }
            use(path)
            return bytes
        } catch {
            if error.isMissingFile { return nil }
            throw Failure(description: error.description)
        }
    }

    /// More would only take longer, each of them.
    private static let mostAtOnce = max(2, ProcessInfo.processInfo.activeProcessorCount)

    /// Waits while another thread makes the same file, or as many as there are processors make others.
    /// - Parameter length: of the track, in seconds.
    /// - Returns: nil when it failed before: reading the file again for each request would take long, and fail again.
    private func encodeOnce(
        _ file: OpenedFile, to path: String, rate: Int, _ quality: EncodedQuality, length: Int64
    ) throws(Failure) -> [UInt8]? {
        isRunning.wait { running.count < Self.mostAtOnce && running.insert(path).inserted }
        var hasFailed = false
        defer {
            isRunning.update {
                if hasFailed { failed[path] = clock.now() + Self.failureLasts }
                running.remove(path)
            }
        }
        if let bytes = try finished(path) { return bytes }
        if hasFailedLately(path) { return nil }
        let new = path + ".new"
        do throws(Failure) {
            try encode(file, to: new, rate: rate, quality, limit: Self.leastTime + length)
            do throws(SystemError) {
                // Before it has its name, and may be removed.
                let bytes = try File.contents(of: new, limit: Self.mostBytes)
                if bytes.isEmpty { throw SystemError(code: ENODATA, operation: "encode", subject: path) }
                // Power loss here: the next start removes it, and the track is encoded again.
                try File(updating: new).synchronize()
                try Folder.renameFile(new, to: path)
                removeUnused(but: path)
                return bytes
            } catch {
                throw Failure(description: error.description)
            }
        } catch {
            try? Folder.removeFile(new)
            hasFailed = true
            throw error
        }
    }

    private func hasFailedLately(_ path: String) -> Bool {
        let now = clock.now()
        return isRunning.update {
            // All of them: nobody asks any more for a file that is gone or has changed.
            failed = failed.filter { now < $0.value }
            return failed[path] != nil
        }
    }

    /// How many are not tried at present.
    var failureCount: Int { isRunning.update { failed.count } }

    /// What an encoder has for a short track, in seconds; for a longer one it has as much as the music lasts beside
    /// that. The smallest boards are many times as fast.
    private static let leastTime: Int64 = 600

    /// - Parameter limit: in seconds.
    private func encode(
        _ file: OpenedFile, to path: String, rate: Int, _ quality: EncodedQuality, limit: Int64
    ) throws(Failure) {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: program)
        process.arguments = [
            "-nostdin", "-v", "error", "-y", "-i", "/dev/stdin", "-map", "0:a:0", "-c:a", "aac", "-b:a",
            "\(quality.bitRate)", "-ar", "\(rate)", "-f", "adts", path,
        ]
        // Not by its name: names of files may be anything. And not as a pipe: MP4 may have its tables at the end, and
        // ffmpeg must seek to them. Linux opens the file once more by the name /dev/stdin.
        process.standardInput = FileHandle(fileDescriptor: file.file.descriptor, closeOnDealloc: false)
        process.standardOutput = FileHandle.nullDevice
        let errors: Pipe
        do {
            errors = try starting.withLock {
                let errors = Pipe()
                process.standardError = errors
                try process.run()
                return errors
            }
        } catch {
            throw Failure(description: "\(program) does not start: \(error)")
        }
        let text = text(from: errors.fileHandleForReading.fileDescriptor, of: process, limit: limit)
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw Failure(description: "ffmpeg: \(text.prefix(300))") }
    }

    /// What the program writes until it ends. After the limit it is killed: who waits for the track has waited enough,
    /// and others wait for its place.
    private func text(from descriptor: Int32, of process: Process, limit: Int64) -> String {
        let deadline = clock.now() + limit * 1_000_000_000
        var text: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        while true {
            var waited = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            let left = (max(deadline - clock.now(), 0) + 999_999) / 1_000_000
            let count = poll(&waited, 1, Int32(clamping: left))
            if count < 0, errno == EINTR { continue }
            if count == 0, clock.now() < deadline { continue }
            if count <= 0 {
                kill(process.processIdentifier, SIGKILL)
                return "takes too long"
            }
            let taken = read(descriptor, &buffer, buffer.count)
            if taken <= 0 { return String(decoding: text, as: UTF8.self) }
            // The rest is read, so that it does not wait for us.
            if text.count < 4096 { text += buffer[..<taken] }
        }
    }

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

extension Track {
    /// Whether it can be encoded in fewer bits: it is lossless, and mono or stereo.
    fileprivate var isEncodable: Bool { !isLossy && format.channelCount <= 2 }
}
