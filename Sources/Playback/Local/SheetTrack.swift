import Platform

/// The path of a track of a cue sheet. The path treats the sheet, or the file in which the sheet is embedded, as a
/// folder (docs/decisions/cue-sheets.md).
///
///     SheetTrack("/music/album.cue/track0003")      // number 3 of /music/album.cue
///
/// Thread: any but the audio thread, because such a path is checked in the file system.
public struct SheetTrack: Equatable, Sendable {
    /// The path of the file with the sheet.
    public let sheet: String
    /// The number in the sheet, from 1.
    public let number: Int

    private static let prefix = "/track"
    private static let digits = 4

    init(_ number: Int, of sheet: String) { (self.sheet, self.number) = (sheet, number) }

    /// Returns nil for any other path, and for a real file whose path has this form.
    public init?(_ path: String) {
        let bytes = Array(path.utf8)
        let name = bytes.suffix(Self.prefix.utf8.count + Self.digits)
        let digits = name.suffix(Self.digits)
        guard name.starts(with: Self.prefix.utf8), digits.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        let sheet = String(decoding: bytes.dropLast(name.count), as: UTF8.self)
        let number = digits.reduce(0) { $0 * 10 + Int($1 - 0x30) }
        switch MusicFileKind(name: sheet) {
        case .audio, .cueSheet: break
        case .playlist, nil: return nil
        }
        guard number > 0, FileKind(at: sheet) != .folder else { return nil }
        self.init(number, of: sheet)
    }

    public var path: String {
        let number = "\(number)"
        return sheet + Self.prefix + String(repeating: "0", count: max(0, Self.digits - number.utf8.count)) + number
    }

    /// Returns the path of the file that `path` needs first: the sheet of a track, else the path itself.
    public static func file(of path: String) -> String { SheetTrack(path)?.sheet ?? path }
}
