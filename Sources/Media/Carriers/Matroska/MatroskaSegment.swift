import PCM

/// The headers of a file: those before the first cluster, and those that they point to (RFC 9559, 4.5).
struct MatroskaSegment {
    let reader: EBMLReader
    /// The end of the segment; nil when its size is not known.
    let end: Int64?
    /// The offset from which positions count.
    let start: Int64
    /// Nanoseconds of a unit of time.
    private(set) var timestampScale: UInt64 = 1_000_000
    /// The duration in units of time.
    private(set) var duration: Double?
    let trackCount: Int
    /// The track that is played.
    let track: MatroskaTrack
    private(set) var metadata = TrackMetadata()
    /// The offset of the index according to the headers.
    let cues: Int64?
    let firstCluster: Int64

    private static let mostElements = 4096
    private static let mostTracks = 64
    private static let mostPositions = 32

    /// - Parameter source: begins with the header of EBML.
    init(_ source: any ByteSource) throws(Interruption) {
        let reader = EBMLReader(source: source)
        var offset = try Self.endOfHeader(reader)
        for _ in 0..<Self.mostElements {
            guard let other = try reader.element(at: offset), let end = other.end, other.id != MatroskaID.segment
            else { break }
            offset = end
        }
        guard let segment = try reader.element(at: offset), segment.id == MatroskaID.segment else {
            throw .damaged(what: "Matroska without a segment")
        }
        offset = segment.content
        var parts: [UInt32: Int64] = [:]
        for _ in 0..<Self.mostElements where parts[MatroskaID.cluster] == nil {
            guard let element = try reader.element(at: offset) else { break }
            if parts[element.id] == nil { parts[element.id] = offset }
            guard let end = element.end else { break }
            offset = end
        }
        if let list = parts[MatroskaID.seekHead] {
            try Self.addPositions(at: list, relativeTo: segment.content, reader, to: &parts)
        }
        func part(_ id: UInt32) throws(Interruption) -> EBMLElement? {
            // Reading at the end of a stream and returning costs two jumps, so only the tracks are read there.
            guard let place = parts[id], id == MatroskaID.tracks || place < offset || !source.isStreamed,
                let element = try reader.element(at: place), element.id == id
            else { return nil }
            return element
        }
        guard let tracks = try part(MatroskaID.tracks) else { throw .damaged(what: "Matroska without tracks") }
        (track, trackCount) = try Self.track(tracks, reader)
        self.reader = reader
        start = segment.content
        end = segment.end
        cues = parts[MatroskaID.cues]
        firstCluster = parts[MatroskaID.cluster] ?? offset
        metadata = track.metadata
        if let information = try part(MatroskaID.information) { try read(information) }
        if let attachments = try part(MatroskaID.attachments) {
            metadata.pictures = try MatroskaAttachments.pictures(attachments, reader)
        }
        if let tags = try part(MatroskaID.tags) {
            metadata = metadata.overridden(by: try MatroskaTags.read(tags, reader, track))
        }
    }

    /// Checks the type of the file.
    private static func endOfHeader(_ reader: EBMLReader) throws(Interruption) -> Int64 {
        guard let header = try reader.element(at: 0), header.id == MatroskaID.header, let end = header.end else {
            throw .damaged(what: "Matroska without its header")
        }
        var fields = reader.children(of: header)
        while let field = try fields.next() {
            guard field.id == MatroskaID.docType else { continue }
            let type = TagText.trimmed(try reader.bytes(field, limit: 64))
            guard type.elementsEqual("matroska".utf8) || type.elementsEqual("webm".utf8) else {
                throw .unsupported(what: "EBML with the type “\(TagText.utf8(type) ?? "")”")
            }
        }
        return end
    }

    /// Adds the offsets in a list (`SeekHead`).
    private static func addPositions(
        at offset: Int64, relativeTo start: Int64, _ reader: EBMLReader, to parts: inout [UInt32: Int64]
    ) throws(Interruption) {
        guard let list = try reader.element(at: offset) else { return }
        var entries = reader.children(of: list)
        for _ in 0..<mostPositions {
            guard let entry = try entries.next() else { return }
            guard entry.id == MatroskaID.seek else { continue }
            var (id, position): (UInt64, UInt64) = (0, 0)
            var fields = reader.children(of: entry)
            while let field = try fields.next() {
                if field.id == MatroskaID.seekID { id = try reader.unsigned(field) }
                if field.id == MatroskaID.seekPosition { position = try reader.unsigned(field) }
            }
            guard let id = UInt32(exactly: id), id != MatroskaID.cluster, parts[id] == nil,
                position < UInt64(AudioLimits.largestData)
            else { continue }
            parts[id] = start + Int64(position)
        }
    }

    /// The default track with a supported codec, or else the first track with one.
    private static func track(
        _ tracks: EBMLElement, _ reader: EBMLReader
    ) throws(Interruption) -> (MatroskaTrack, count: Int) {
        var chosen: MatroskaTrack?
        var problem: Interruption?
        var count = 0
        var entries = reader.children(of: tracks)
        while count < mostTracks, let entry = try entries.next() {
            guard entry.id == MatroskaID.trackEntry else { continue }
            count += 1
            do throws(Interruption) {
                guard let track = try MatroskaTrack(entry, reader) else { continue }
                if chosen == nil || track.isDefault && chosen?.isDefault == false { chosen = track }
            } catch {
                if error.isOfSource { throw error }
                problem = problem ?? error
            }
        }
        guard let chosen else { throw problem ?? .unsupported(what: "Matroska without sound") }
        return (chosen, count)
    }

    private mutating func read(_ information: EBMLElement) throws(Interruption) {
        var fields = reader.children(of: information)
        while let field = try fields.next() {
            switch field.id {
            case MatroskaID.timestampScale: timestampScale = max(1, try reader.unsigned(field))
            case MatroskaID.duration: duration = try reader.float(field)
            case MatroskaID.title: metadata.title = try reader.text(field)
            default: break
            }
        }
    }
}
