/// DFF (DSDIFF 1.5): DSD in chunks like those of AIFF, but with sizes of 64 bits. One byte of each channel in turn, the
/// oldest bit at the top.
struct DFFContainer {
    let track: TrackDescription
    /// The same track as words of DSD.
    let words: TrackDescription
    /// A frame is one byte of each channel.
    let packets: PCMPackets

    private static let mostChunks = 4096

    /// - Parameter base: the offset of the source in the file, for pictures.
    init(_ source: any ByteSource, tags: TrackMetadata, base: Int64 = 0) throws(Interruption) {
        var header = Header()
        var id3Tags: TrackMetadata?
        var offset: Int64 = 16
        let end = source.length ?? AudioLimits.largestData
        for _ in 0..<Self.mostChunks where offset <= end - 12 {
            do throws(Interruption) {
                guard let chunk = try Chunk(source, at: offset) else { break }
                switch chunk.name {
                case "PROP": try header.readProperties(source, chunk)
                case "DSD ": header.data = header.data ?? chunk
                case "DST ": throw .unsupported(what: "DFF with DST")
                case "ID3 " where id3Tags == nil: id3Tags = try ID3v2.read(from: source, at: chunk.offset)
                default: break
                }
                offset = chunk.end
                // A jump to the end of a stream and back is slow.
                if source.isStreamed, header.data != nil { break }
            } catch {
                // Tags are no reason to wait for the end of a download.
                guard error == .notYet, header.data != nil else { throw error }
                break
            }
        }
        guard let rate = header.rate, let channels = header.channelCount else {
            throw .damaged(what: "DFF without its properties")
        }
        guard let data = header.data else { throw .damaged(what: "DFF without sound data") }
        let bitRate = try DSDDescription.rate(rate, of: "DFF")
        let channelCount = try AudioLimits.channelCount(channels, of: "DFF")
        packets = PCMPackets(
            source, layout: SampleLayout(byteCount: 1, bitDepth: 8, isBigEndian: true), channelCount: channelCount,
            sampleRate: bitRate / 8, dataOffset: data.offset, declaredBytes: data.size)
        let description = DSDDescription(
            bitRate: bitRate, channelCount: channelCount, byteCount: packets.frameCount)
        track = description.track(in: .dff, tags.overridden(by: id3Tags, at: base))
        words = description.words(of: track)
    }

    private struct Header {
        var rate: UInt32?
        var channelCount: Int?
        var data: Chunk?

        /// The chunks inside of `PROP`.
        mutating func readProperties(_ source: any ByteSource, _ properties: Chunk) throws(Interruption) {
            let reader = SourceReader(source)
            guard try reader.bytes(4, at: properties.offset).elementsEqual("SND ".utf8) else { return }
            var offset = properties.offset + 4
            for _ in 0..<mostChunks where offset < properties.end {
                guard let chunk = try Chunk(source, at: offset) else { return }
                var content = ByteReader(try reader.bytes(4, at: chunk.offset))
                switch chunk.name {
                case "FS  ": rate = content.bigEndian(UInt32.self)
                case "CHNL": channelCount = content.bigEndian(UInt16.self).map { Int($0) }
                case "CMPR":
                    if let code = content.code(), code != "DSD " {
                        throw .unsupported(what: "DFF with \(code == "DST " ? "DST" : code.text)")
                    }
                default: break
                }
                offset = chunk.end
            }
        }
    }

    private struct Chunk {
        let name: FourCharacterCode
        /// The offset of the content.
        let offset: Int64
        let size: Int64

        /// The next chunk begins there: at an even offset.
        var end: Int64 { offset + size + size & 1 }

        /// - Returns: nil at the end.
        init?(_ source: any ByteSource, at offset: Int64) throws(Interruption) {
            var reader = ByteReader(try SourceReader(source).bytes(12, at: offset))
            guard let name = reader.code(), let size = reader.bigEndian(UInt64.self) else { return nil }
            self.name = name
            self.offset = offset + 12
            self.size = Int64(min(size, UInt64(AudioLimits.largestData)))
        }
    }
}
