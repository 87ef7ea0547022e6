import Crypto
import PCM

/// Identifies the sound of a file, whatever its name, its tags and its pictures (docs/decisions/audio-identity.md).
///
/// It is a hash of the number of the encoded bytes, and of three samples of them. Tags around them do not count.
///
/// Thread: any that may block in the source.
package enum AudioIdentity {
    /// The bytes of a sample: of the beginning, the middle and the end.
    static let sampleSize: Int64 = 16_384
    private static let pageSize = 4096

    /// The encoded bytes of a file.
    private struct Extent {
        var bytes: Range<Int64>
        /// Whether the bytes are pages of Ogg, whose headers change with the tags.
        var isOgg = false
        /// A length that stands for the number of bytes, when the end is not known.
        var frameCount: Int64?
    }

    /// Returns the identity, which is never 0.
    /// - Parameters:
    ///   - source: a file whose length is known.
    ///   - properties: of its decoder.
    package static func of(_ source: any ByteSource, _ properties: AudioProperties) throws(ByteSourceError) -> Int64 {
        let whole = Extent(bytes: 0..<max(0, source.length ?? 0))
        let extent: Extent
        do throws(Interruption) { extent = try find(source, properties, whole) } catch {
            if case .failed(.source(let error)) = error { throw error }
            extent = whole
        }
        do throws(Interruption) { return try hash(source, extent, properties) } catch {
            if case .failed(.source(let error)) = error { throw error }
            throw .cancelled
        }
    }

    private static func hash(
        _ source: any ByteSource, _ extent: Extent, _ properties: AudioProperties
    ) throws(Interruption) -> Int64 {
        let range = extent.bytes
        // Not `count`, which is an `Int`.
        let length = range.upperBound - range.lowerBound
        let count = extent.frameCount ?? length
        var bytes = Array(properties.codec.rawValue.utf8) + (0..<8).map { UInt8(truncatingIfNeeded: count >> (8 * $0)) }
        var starts = [range.lowerBound]
        if length > 3 * sampleSize {
            starts += [range.lowerBound + length / 2, range.upperBound - sampleSize]
        }
        let size = starts.count == 1 ? min(length, 3 * sampleSize) : sampleSize
        for start in starts {
            var sample = try SourceReader(source).bytes(Int(size), at: start)
            if extent.isOgg { hidePageNumbers(&sample, isMiddle: start > range.lowerBound) }
            bytes += sample
        }
        guard let digest = try? SHA256.hash(bytes) else { preconditionFailure("SHA-256 without memory") }
        let hash = digest[..<8].reduce(0) { $0 << 8 | Int64($1) }
        return hash == 0 ? 1 : hash
    }

    /// Clears the serials, sequence numbers and checksums of pages: programs that write tags change them.
    private static func hidePageNumbers(_ sample: inout [UInt8], isMiddle: Bool) {
        var place = 0
        while place + 4 <= sample.count {
            if sample[place] == 0x4F, sample[place + 1] == 0x67, sample[place + 2] == 0x67, sample[place + 3] == 0x53 {
                for byte in (place + 14)..<(place + 26) where byte < sample.count { sample[byte] = 0 }
            }
            place += 1
        }
        // The rest of a header that begins before the sample.
        if isMiddle { sample.removeFirst(min(26, sample.count)) }
    }

    // MARK: Where the encoded bytes lie

    private static func find(
        _ source: any ByteSource, _ properties: AudioProperties, _ whole: Extent
    ) throws(Interruption) -> Extent {
        let paged = PagedSource(source, pageSize: pageSize)
        let start = try MPEGTags.end(of: paged, at: 0)
        let end = whole.bytes.upperBound
        let audio: any ByteSource = start > 0 ? SourceSlice(paged, from: start) : paged
        func extent(_ first: Int64, _ last: Int64? = nil) -> Extent {
            let last = min(last ?? end, end)
            return Extent(bytes: min(first, last)..<last)
        }
        func chunk(_ data: (offset: Int64, byteCount: Int64?)?) -> Extent {
            guard let data else { return whole }
            return extent(start + data.offset, data.byteCount.map { start + data.offset + $0 })
        }
        func untilTags(_ first: Int64) throws(Interruption) -> Extent {
            extent(first, try TrailingTags(of: paged, length: end, base: 0).start)
        }
        switch properties.container {
        case .flac:
            let marker = try FLACSearch.start(in: paged, from: start)?.offset ?? start
            let hasHeader = try SourceReader(paged).bytes(4, at: marker) == FLACHeader.marker
            return try untilTags(hasHeader ? FLACBlocks(paged, at: marker + 4).audioOffset : marker)
        case .mp3:
            let head = try SourceReader(paged).bytes(Signature.byteCount, at: start)
            let first = try WAVHeader.startOfMPEG(in: paged, at: start, head) ?? start
            return try untilTags(first + infoSize(paged, at: first))
        case .adts, .wavpack: return try untilTags(start)
        case .wav:
            let isWave64 = Wave64Header.begins(try SourceReader(audio).bytes(40, at: 0))
            return chunk(isWave64 ? try Wave64Header(audio).data : try WAVHeader(audio).data)
        case .aiff: return chunk(try AIFFHeader(audio).data)
        case .dsf:
            var head = ByteReader(try SourceReader(audio).bytes(28, at: 0))
            head.skip(20)
            let tags = Int64(clamping: head.littleEndian(UInt64.self) ?? 0)
            return extent(start + 28, tags > 28 ? tags : nil)
        case .dff: return try samples(ofDFF: audio, start, end) ?? whole
        case .mp4:
            var boxes = MP4Boxes(paged, from: start, to: end)
            while let box = try boxes.next() {
                if box.type == "mdat", !box.content.isEmpty { return Extent(bytes: box.content) }
                // Fragments: the boxes between them do not change with the tags.
                if box.type == "moof" { return extent(box.offset) }
            }
            return whole
        case .ogg:
            let pages = OggPages(paged)
            guard let first = try OggPages.start(in: paged, from: start, upTo: start + MPEGSync.mostJunk) else {
                return whole
            }
            let place = try OggLink(pages, at: first).start
            var found = extent(place.offset)
            // The place before the first packet may be the end of the headers, which have pages of their own.
            if place.segment > 0, case .page(let page) = try pages.next(from: place.offset),
                page.offset == place.offset, place.segment >= page.segmentCount
            {
                found = extent(page.end)
            }
            found.isOgg = true
            return found
        case .matroska:
            // Tags may lie after the last cluster.
            let first = start + (try MatroskaSegment(audio).firstCluster)
            var found = extent(first, first + 3 * sampleSize)
            found.frameCount = properties.frameCount ?? 0
            return found
        }
    }

    /// Returns the size of a first frame of MPEG audio that only describes the file; 0 for one with sound.
    private static func infoSize(_ source: any ByteSource, at offset: Int64) throws(Interruption) -> Int64 {
        guard let header = try MPEGSync(source).header(at: offset), let size = header.byteCount(freeSize: nil),
            MPEGInfo(try SourceReader(source).bytes(size, at: offset), header) != nil
        else { return 0 }
        return Int64(size)
    }

    /// DSDIFF 1.5: chunks with sizes of 64 bits.
    private static func samples(
        ofDFF source: any ByteSource, _ base: Int64, _ end: Int64
    ) throws(Interruption) -> Extent? {
        var offset: Int64 = 16
        for _ in 0..<4096 where base + offset < end {
            var head = ByteReader(try SourceReader(source).bytes(12, at: offset))
            guard let name = head.code(), let size = head.bigEndian(UInt64.self), size < UInt64(AudioLimits.largestData)
            else { return nil }
            let content = base + offset + 12
            if name == "DSD " { return Extent(bytes: content..<max(content, min(end, content + Int64(size)))) }
            offset += 12 + Int64(size) + Int64(size) & 1
        }
        return nil
    }
}
