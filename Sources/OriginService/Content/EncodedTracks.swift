import Foundation
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
/// Thread: any. It blocks while it encodes; one track at a time.
/// `@unchecked Sendable` is safe because `lock` guards the folder.
final class EncodedTracks: @unchecked Sendable {
    private let program: String
    private let folder: String
    private let limit: Int64
    private let lock = Lock()

    /// - Parameters:
    ///   - program: the path of ffmpeg.
    ///   - folder: is created when it is missing, and holds nothing else.
    ///   - limit: of all files together, in bytes.
    init(program: String, folder: String, limit: Int64) throws(SystemError) {
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
            let bytes = try lock.withLock { () throws(Failure) in
                try encode(file, to: path, rate: rate, quality)
                return try Self.contents(of: path)
            }
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

    private static func contents(of path: String) throws(Failure) -> [UInt8] {
        do throws(SystemError) { return try File.contents(of: path, limit: 1 << 30) } catch {
            throw Failure(description: error.description)
        }
    }

    private func encode(_ file: OpenedFile, to path: String, rate: Int, _ quality: EncodedQuality) throws(Failure) {
        if FileKind(at: path) == .file { return use(path) }
        let process = Process()
        let errors = Pipe()
        process.executableURL = URL(fileURLWithPath: program)
        process.arguments = [
            "-nostdin", "-v", "error", "-y", "-i", "pipe:0", "-map", "0:a:0", "-c:a", "aac", "-b:a",
            "\(quality.bitRate)", "-ar", "\(rate)", "-f", "adts", path + ".new",
        ]
        // Not by its name: names of files may be anything.
        process.standardInput = FileHandle(fileDescriptor: file.file.descriptor, closeOnDealloc: false)
        process.standardOutput = FileHandle.nullDevice
        process.standardError = errors
        do {
            try process.run()
        } catch {
            throw Failure(description: "\(program) does not start: \(error)")
        }
        let text = String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw Failure(description: "ffmpeg: \(text.prefix(300))") }
        // Power loss here: the next start removes it, and the track is encoded again.
        do throws(SystemError) {
            try File(updating: path + ".new").synchronize()
            try Folder.renameFile(path + ".new", to: path)
        } catch {
            throw Failure(description: error.description)
        }
        removeUnused(but: path)
    }

    /// Files are removed in the order of their use.
    private func use(_ path: String) {
        try? FileManager.default.setAttributes([.modificationDate: Date()], ofItemAtPath: path)
    }

    private func removeUnused(but kept: String) {
        let files = ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []).compactMap { name in
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

extension Track {
    /// Whether it can be encoded in fewer bits: it is lossless, and mono or stereo.
    fileprivate var isEncodable: Bool { codec != .aac && format.channelCount <= 2 }
}
