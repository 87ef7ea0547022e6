import Media
import PCM
import Platform

/// A line of a cue sheet: a word and the text after it.
struct CueLine {
    /// The command in capital letters.
    let command: [UInt8]
    let rest: [UInt8]
    private let encoding: TextEncoding

    /// - Parameter line: without blanks at its ends.
    init(_ line: ArraySlice<UInt8>, _ encoding: TextEncoding = .utf8) {
        self.encoding = encoding
        let word = line.prefix { !TagText.isBlank($0) }
        command = word.map { $0.uppercased }
        rest = Array(line.dropFirst(word.count).drop(while: TagText.isBlank))
    }

    func `is`(_ name: StaticString) -> Bool { name.withUTF8Buffer { command.elementsEqual($0) } }

    /// The value as text, without its quotation marks; nil for none, and for one that cannot be decoded.
    var text: String? {
        let text = Array(Self.unquoted(rest))
        if text.isEmpty || encoding.unreadName != nil && !text.allSatisfy({ $0 < 0x80 }) { return nil }
        return encoding.text(of: text)
    }

    /// The first word after the command, and the text after it.
    var nested: CueLine { CueLine(rest[...], encoding) }

    /// The name in `FILE name type`: the quotation marks may be missing, and the type.
    var fileName: [UInt8] {
        if rest.first == UInt8(ascii: "\""), let end = rest.lastIndex(of: UInt8(ascii: "\"")), end > 0 {
            return Array(rest[1..<end])
        }
        let name = rest.first == UInt8(ascii: "\"") ? rest.dropFirst() : rest[...]
        guard let blank = name.lastIndex(where: TagText.isBlank), Self.isFileType(name[(blank + 1)...])
        else { return Array(name) }
        return Array(TagText.trimmed(name[..<blank]))
    }

    private static let fileTypes: [StaticString] = [
        "WAVE", "MP3", "AIFF", "FLAC", "BINARY", "MOTOROLA", "AAC", "MP4", "OGG", "APE", "WV",
    ]

    private static func isFileType(_ word: ArraySlice<UInt8>) -> Bool {
        let word = CueLine(word)
        return fileTypes.contains { word.is($0) }
    }

    private static func unquoted(_ text: [UInt8]) -> ArraySlice<UInt8> {
        guard text.first == UInt8(ascii: "\"") else { return text[...] }
        return TagText.trimmed(text.dropFirst().prefix { $0 != UInt8(ascii: "\"") })
    }
}

/// The state while a cue sheet is read line by line.
struct CueSheetParser {
    private var album = TagFields()
    private var files: [[UInt8]] = []
    private var tracks: [Track] = []

    private struct Track {
        var number: Int?
        var isAudio: Bool
        var fields = TagFields()
        var isrc: String?
        /// The time of INDEX 00, for a track without INDEX 01.
        var earlier: CueSheet.Place?
        var place: CueSheet.Place?
    }

    mutating func read(_ line: CueLine) {
        if line.is("FILE") {
            let name = line.fileName
            if !name.isEmpty, name.count <= 4096, !name.contains(0), files.count < CueSheet.mostTracks {
                files.append(name)
            }
        } else if line.is("TRACK") {
            // One more track ends the last one.
            guard tracks.count <= CueSheet.mostTracks else { return }
            let (number, type) = (line.nested, line.nested.nested)
            tracks.append(
                Track(
                    number: TagNumber.ordinal(String(decoding: number.command, as: UTF8.self)),
                    isAudio: type.is("AUDIO") || type.command.isEmpty))
        } else if line.is("INDEX") {
            readIndex(line.nested)
        } else if line.is("TITLE") {
            set(.field(tracks.isEmpty ? .album : .title), line)
        } else if line.is("PERFORMER") {
            set(.field(tracks.isEmpty ? .albumArtist : .artist), line)
        } else if line.is("SONGWRITER") {
            set(.field(.composer), line)
        } else if line.is("ISRC") {
            if let last = tracks.indices.last, tracks[last].isrc == nil { tracks[last].isrc = line.text }
        } else if line.is("REM") {
            readRemark(line.nested)
        }
    }

    private mutating func readIndex(_ line: CueLine) {
        guard let last = tracks.indices.last, let file = files.indices.last, let time = CueTime(line.nested.command)
        else { return }
        let place = CueSheet.Place(file: file, start: time)
        switch TagNumber.integer(String(decoding: line.command, as: UTF8.self)) {
        case 0: if tracks[last].earlier == nil { tracks[last].earlier = place }
        case 1: if tracks[last].place == nil { tracks[last].place = place }
        default: break
        }
    }

    /// `REM GENRE Rock`, and others that programs write.
    private mutating func readRemark(_ line: CueLine) {
        guard let meaning = TagFields.meaning(of: line.command) else { return }
        switch meaning {
        case .field(.genre), .field(.date), .field(.discNumber), .field(.discTotal), .albumGain, .albumPeak:
            if tracks.isEmpty { set(meaning, line) }
        case .field(.composer): set(meaning, line)
        case .trackGain, .trackPeak: if !tracks.isEmpty { set(meaning, line) }
        default: break
        }
    }

    private mutating func set(_ name: TagFields.Name, _ line: CueLine) {
        guard let text = line.text else { return }
        if let last = tracks.indices.last { tracks[last].fields.add(name, text) } else { album.add(name, text) }
    }

    var sheet: CueSheet {
        var sheet = CueSheet()
        sheet.files = files
        let album = album.result
        for (index, track) in tracks.enumerated() {
            var metadata = album.overridden(by: track.fields.result)
            metadata.artist = metadata.artist ?? album.albumArtist
            metadata.trackNumber = track.number ?? index + 1
            sheet.tracks.append(
                CueSheet.Track(
                    isAudio: track.isAudio, place: track.place ?? track.earlier, metadata: metadata, isrc: track.isrc))
        }
        sheet.setEnds()
        sheet.tracks.removeLast(max(0, sheet.tracks.count - CueSheet.mostTracks))
        return sheet
    }
}
