import Media
import PCM

extension CueSheet {
    /// The cue sheet inside of a file: its text, or else its block.
    /// - Returns: nil for one without tracks.
    public init?(_ embedded: EmbeddedCueSheet) {
        var sheet = CueSheet(parsing: embedded.text ?? [])
        if !sheet.tracks.isEmpty {
            sheet.nameOneFile()
        } else if let block = embedded.block {
            sheet = CueSheet(block: block)
        }
        if sheet.tracks.isEmpty { return nil }
        self = sheet
    }

    /// Assigns all tracks to one file, the one that contains the sheet. The file names in the sheet are ignored.
    private mutating func nameOneFile() {
        files = [[]]
        for index in tracks.indices where tracks[index].place != nil {
            tracks[index].place?.file = 0
            tracks[index].place?.end = nil
        }
        setEnds()
    }

    /// The content of a CUESHEET block (RFC 9639, 8.7): positions in samples. The last track marks the end. Tracks that
    /// are cut off are left out.
    init(block: [UInt8]) {
        self.init()
        var reader = ByteReader(block)
        // Catalogue number, lead-in, flags and reserved bytes.
        reader.skip(128 + 8 + 1 + 258)
        guard let count = reader.bigEndian(UInt8.self) else { return }
        files = [[]]
        for _ in 0..<count {
            guard let offset = reader.bigEndian(UInt64.self), let number = reader.bigEndian(UInt8.self),
                let code = reader.bytes(12), let flags = reader.bytes(14)?.first,
                let indices = reader.bigEndian(UInt8.self)
            else { break }
            var start: Int64?
            for index in 0..<indices {
                guard let distance = reader.bigEndian(UInt64.self), let point = reader.bytes(4)?.first else { break }
                if point == 1 || index == 0 { start = Self.sum(offset, distance) }
            }
            var track = Track()
            track.isAudio = flags & 0x80 == 0
            track.metadata.trackNumber = Int(number)
            track.isrc = code.first == 0 ? nil : TagText.utf8(code)
            let place = start ?? (Self.isLeadOut(number) ? Self.sum(offset, 0) : nil)
            track.place = place.map { Place(file: 0, start: .frames($0)) }
            tracks.append(track)
        }
        setEnds()
        if let last = tracks.last?.metadata.trackNumber, Self.isLeadOut(UInt8(last)) { tracks.removeLast() }
    }

    private static func isLeadOut(_ number: UInt8) -> Bool { number == 170 || number == 255 }

    private static func sum(_ offset: UInt64, _ distance: UInt64) -> Int64? {
        let (sum, isBeyond) = offset.addingReportingOverflow(distance)
        return isBeyond ? nil : Int64(exactly: sum)
    }
}
