import Media
import PCM
import Platform

/// A cue sheet: the part of a file that each track occupies, with its tags (docs/decisions/cue-sheets.md).
///
///     let sheet = CueSheet(parsing: bytes)
///     sheet.tracks[2].place?.start.frame(rate: 44_100)
///
/// Any bytes are accepted: lines that are not understood are skipped. A sheet without `tracks` is no cue sheet.
public struct CueSheet: Equatable, Sendable {
    /// A track in a file.
    public struct Place: Equatable, Sendable {
        /// The index in `files`.
        public var file: Int
        /// INDEX 01, or the only other one.
        public var start: CueTime
        /// The start of the next track in the same file; nil: the end of the file.
        public var end: CueTime?
    }

    public struct Track: Equatable, Sendable {
        /// Whether it has sound. Discs have tracks of data, too.
        public var isAudio = true
        /// The place of the track; nil when the sheet does not contain its start.
        public var place: Place?
        /// The tags of the track, with those of the album that hold for each track.
        public var metadata = TrackMetadata()
        /// International Standard Recording Code.
        public var isrc: String?
    }

    /// The names of the files, as they are in the sheet. An embedded sheet has one file: the one that contains it.
    public internal(set) var files: [[UInt8]] = []
    /// In order. The first one is number 1, independent of its number in the sheet.
    public internal(set) var tracks: [Track] = []

    /// A larger file is no cue sheet. In bytes.
    public static let mostBytes = EmbeddedCueSheet.mostBytes
    public static let mostTracks = 999

    private var encoding = TextEncoding.utf8

    init() {}

    /// - Parameter bytes: of the file: in a character set of `TextEncoding` or UTF-16, with lines of any system.
    public init(parsing bytes: [UInt8]) {
        var parser = CueSheetParser()
        let lines = TextLines(bytes)
        for line in lines.lines { parser.read(CueLine(line, lines.encoding)) }
        self = parser.sheet
        encoding = lines.encoding
    }

    /// The name of the sheet's encoding if it cannot be decoded: "Big5". Titles in it are left out.
    public var unreadEncoding: String? { encoding.unreadName }

    /// The number of tracks in the same file as `track`, with it.
    /// - Parameter track: an index in `tracks`.
    public func tracksSharingFile(with track: Int) -> Int {
        guard let file = tracks[track].place?.file else { return 0 }
        return tracks.count { $0.place?.file == file }
    }

    /// The name of the file of this index, for people.
    public func fileName(_ file: Int) -> String { encoding.text(of: files[file]) }

    /// Where the file of this index may be.
    /// - Parameter folder: the absolute path of the folder of the sheet, without `.` and `..`.
    public func entry(_ file: Int, in folder: String) -> PlaylistEntry? {
        PlaylistEntry(files[file], encoding, in: folder, below: folder)
    }

    /// Whether the name of the file of this index is in a character set that is a guess.
    public func isNameGuessed(_ file: Int) -> Bool {
        files[file].contains { $0 >= 0x80 } && !(encoding == .utf8 && TextEncoding.isUTF8(files[file]))
    }

    /// Returns the only music with the ending of this file that is none of the others. Without any with this ending, it
    /// is the only other music.
    /// - Parameters:
    ///   - names: of the music files in the folder of the sheet.
    ///   - others: the names of those that are other files of the sheet.
    public func remainingName(for file: Int, among names: [String], without others: [String]) -> String? {
        let rest = names.filter { name in !others.contains { $0.utf8.elementsEqual(name.utf8) } }
        let ending = Self.ending(files[file])
        let alike = rest.filter { Self.ending(Array($0.utf8)).elementsEqual(ending) }
        let found = alike.isEmpty ? rest : alike
        return found.count == 1 ? found[0] : nil
    }

    private static func ending(_ name: [UInt8]) -> [UInt8] {
        name.lastIndex(of: UInt8(ascii: ".")).map { name[$0...].map { $0.lowercased } } ?? []
    }

    /// Ends each track at the start of the next one in its file.
    mutating func setEnds() {
        for index in tracks.indices.dropLast() {
            guard let file = tracks[index].place?.file,
                let next = tracks[(index + 1)...].first(where: { $0.place != nil })?.place, next.file == file
            else { continue }
            tracks[index].place?.end = next.start
        }
    }
}

/// A time in a cue sheet.
public enum CueTime: Equatable, Sendable {
    /// A time in sectors of a disc, 1/75 s each.
    case sectors(Int64)
    /// A time in frames of the file.
    case frames(Int64)

    /// The frame of a file of this rate. Where a sector does not begin at a frame, the nearest one.
    public func frame(rate: Int) -> Int64 {
        switch self {
        case .sectors(let count): (count * Int64(rate) * 2 + 75) / 150
        case .frames(let count): count
        }
    }

    /// `mm:ss:ff`, in any number of minutes.
    init?(_ text: [UInt8]) {
        let parts = text.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
        guard parts.count == 3, let minutes = Self.number(parts[0]), let seconds = Self.number(parts[1]),
            let sectors = Self.number(parts[2]), seconds < 60, sectors < 75
        else { return nil }
        self = .sectors((minutes * 60 + seconds) * 75 + sectors)
    }

    private static func number(_ digits: ArraySlice<UInt8>) -> Int64? {
        guard (1...6).contains(digits.count), digits.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return digits.reduce(0) { $0 * 10 + Int64($1 - 0x30) }
    }
}
