import CLinux
import Manifests
import Media
import Platform

/// A cue sheet in the file system, and the music files that it names.
///
/// Thread: any that may block on the medium.
struct SheetFile {
    let path: String
    let sheet: CueSheet
    /// The absolute folder that file names are relative to; nil for an embedded sheet.
    private let folder: String?

    /// - Parameters:
    ///   - path: the path of the sheet, or of the music file that contains it.
    ///   - bytes: the bytes of that file.
    init(_ path: String, _ bytes: any ByteSource) throws(MusicProblem) {
        self.path = path
        if case .cueSheet? = MusicFileKind(name: path) {
            sheet = CueSheet(parsing: try Self.contents(of: bytes, path))
            do throws(SystemError) { folder = try Folder.resolved(Folder.containing(path)) } catch {
                throw MusicProblem(error, at: path)
            }
        } else {
            do throws(MediaError) {
                sheet = try AudioFile.cueSheet(in: bytes).flatMap(CueSheet.init) ?? CueSheet(parsing: [])
            } catch {
                throw Self.problem(error, path)
            }
            folder = nil
        }
        guard sheet.tracks.contains(where: { $0.isPlayed }) else {
            throw MusicProblem(
                path, folder == nil ? "no cue sheet in this file." : "a cue sheet without tracks of audio.")
        }
    }

    /// Reads the sheet at a path.
    init(at path: String, cancellation: Cancellation?) throws(MusicProblem) {
        let bytes: FileByteSource
        do throws(SystemError) { bytes = try FileByteSource(path: path, cancellation: cancellation) } catch {
            throw MusicProblem(error, at: path)
        }
        try self.init(path, bytes)
    }

    /// Returns the path of the music file with this index in the sheet.
    func music(_ file: Int) throws(MusicProblem) -> String {
        guard let folder else { return path }
        let name = sheet.fileName(file)
        if let entry = sheet.entry(file, in: folder) {
            if let found = Self.named(by: entry) ?? otherEnding(entry, folder) ?? remaining(file, folder) {
                return found
            }
            if let path = entry.path, FileKind(at: path) == .file {
                throw MusicProblem(
                    self.path,
                    "its file \"\(name)\" is not music of a supported kind. Supported: \(AudioFormats.supported).")
            }
        }
        throw MusicProblem(
            path, "its music file \"\(name)\" does not exist.\(Self.remedy(sheet.unreadEncoding))",
            SystemError(code: ENOENT, operation: "open", subject: path))
    }

    /// Returns a sentence about a character set that cannot be decoded, for the end of a message about a missing file;
    /// empty for nil.
    static func remedy(_ encoding: String?) -> String {
        encoding.map { " Its names are in \($0), which cannot be read: save it in UTF-8." } ?? ""
    }

    /// Returns the one file in the folder that no other name of the sheet matches. A name that cannot be decoded then
    /// means this file.
    private func remaining(_ file: Int, _ folder: String) -> String? {
        guard sheet.isNameGuessed(file) else { return nil }
        var others: [String] = []
        for other in sheet.files.indices where other != file {
            guard let entry = sheet.entry(other, in: folder),
                let found = Self.named(by: entry) ?? otherEnding(entry, folder)
            else { return nil }
            if Folder.containing(found).utf8.elementsEqual(folder.utf8) { others.append(Self.name(of: found)) }
        }
        return sheet.remainingName(for: file, among: Self.music(in: folder), without: others).map { "\(folder)/\($0)" }
    }

    private static func named(by entry: PlaylistEntry) -> String? {
        if let path = entry.path, isMusic(path) { return path }
        return entry.alternatives.first(where: isMusic)
    }

    private static func isMusic(_ path: String) -> Bool {
        guard case .audio? = MusicFileKind(name: path) else { return false }
        return FileKind(at: path) == .file
    }

    /// Returns the file with the same name and another ending, because the music may have been converted. Without one,
    /// returns the only music file in the folder.
    private func otherEnding(_ entry: PlaylistEntry, _ folder: String) -> String? {
        guard let named = entry.path ?? entry.alternatives.first else { return nil }
        let name = Self.name(of: named)
        for place in [Folder.containing(named), folder] {
            let music = Self.music(in: place)
            if let match = music.first(where: { Self.haveOneStem($0, name) }) { return "\(place)/\(match)" }
        }
        let music = sheet.files.count == 1 ? Self.music(in: folder) : []
        return music.count == 1 ? "\(folder)/\(music[0])" : nil
    }

    private static func music(in folder: String) -> [String] {
        do throws(SystemError) {
            return try Folder.entries(of: folder) { entry in
                guard entry.kind == .file, entry.name.utf8.first != UInt8(ascii: "."),
                    case .audio? = MusicFileKind(name: entry.name)
                else { return .skip }
                return .keep
            }.map { $0.name }
        } catch {
            return []
        }
    }

    /// Whether two names differ only in their ending and the case of their letters.
    private static func haveOneStem(_ one: String, _ other: String) -> Bool {
        stem(one).elementsEqual(stem(other))
    }

    private static func name(of path: String) -> String {
        guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return path }
        return String(path[path.utf8.index(after: slash)...])
    }

    private static func stem(_ name: String) -> [UInt8] {
        let bytes = Array(name.utf8)
        let end = bytes.lastIndex(of: UInt8(ascii: ".")) ?? bytes.endIndex
        return bytes[..<end].map { $0.lowercased }
    }

    private static func contents(of source: any ByteSource, _ path: String) throws(MusicProblem) -> [UInt8] {
        var bytes: [UInt8] = []
        let chunk = UnsafeMutableRawBufferPointer.allocate(byteCount: 16_384, alignment: 1)
        defer { chunk.deallocate() }
        while bytes.count <= CueSheet.mostBytes {
            do throws(ByteSourceError) {
                guard case .bytes(let count) = try source.read(into: chunk, at: Int64(bytes.count)) else {
                    return bytes
                }
                bytes.append(contentsOf: chunk[..<count])
            } catch {
                throw problem(.source(error), path)
            }
        }
        throw MusicProblem(path, "too large for a cue sheet.")
    }

    private static func problem(_ error: MediaError, _ path: String) -> MusicProblem {
        if case .source(.medium(let error)) = error { return MusicProblem(error, at: path) }
        return MusicProblem(path, "cancelled.")
    }
}

extension CueSheet.Track {
    /// Whether it can be played: it has sound, and a position.
    var isPlayed: Bool { isAudio && place != nil }
}
