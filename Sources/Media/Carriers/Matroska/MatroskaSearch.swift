/// Finds clusters by their time, without reading all of them.
struct MatroskaSearch {
    private let segment: MatroskaSegment
    private var reader: EBMLReader { segment.reader }

    /// The bytes that are read in order rather than searched: fewer than this.
    private static let readThrough: Int64 = 65_536
    private static let pageSize = 8192
    private static let mostClusters = 1_000_000

    struct Cluster {
        let offset: Int64
        /// The time in units of time.
        let time: Int64
    }

    init(_ segment: MatroskaSegment) { self.segment = segment }

    /// The last cluster that begins at a time or before it, or one before that.
    func cluster(upTo time: Int64) throws(Interruption) -> Cluster? {
        if let found = try indexed(upTo: time) { return found }
        guard let length = reader.source.length else { return try following(upTo: time) }
        var low = segment.firstCluster
        var high = min(length, segment.end ?? .max)
        var best: Cluster?
        while high - low > Self.readThrough {
            let middle = low + (high - low) / 2
            guard let found = try cluster(from: middle, upTo: high), found.time <= time else {
                high = middle
                continue
            }
            best = found
            low = found.offset + 1
        }
        while let found = try cluster(from: low, upTo: high), found.time <= time {
            best = found
            low = found.offset + 1
        }
        return best
    }

    /// Reads the index (`Cues`).
    private func indexed(upTo time: Int64) throws(Interruption) -> Cluster? {
        guard let place = segment.cues, let cues = try reader.element(at: place), cues.id == MatroskaID.cues else {
            return nil
        }
        var best: UInt64?
        var points = reader.children(of: cues)
        while let point = try points.next() {
            guard point.id == MatroskaID.cuePoint else { continue }
            var fields = reader.children(of: point)
            var isLate = false
            var position: UInt64?
            while let field = try fields.next() {
                if field.id == MatroskaID.cueTime { isLate = Int64(clamping: try reader.unsigned(field)) > time }
                guard field.id == MatroskaID.cuePositions, position == nil else { continue }
                var details = reader.children(of: field)
                while let detail = try details.next() {
                    if detail.id == MatroskaID.cueCluster { position = try reader.unsigned(detail) }
                }
            }
            if isLate { break }
            best = position ?? best
        }
        guard let best, best < UInt64(AudioLimits.largestData) else { return nil }
        return try cluster(at: segment.start + Int64(best))
    }

    /// Steps from cluster to cluster, because the length of the file is not known.
    private func following(upTo time: Int64) throws(Interruption) -> Cluster? {
        var best: Cluster?
        var offset = segment.firstCluster
        for _ in 0..<Self.mostClusters {
            guard let found = try cluster(at: offset), found.time <= time,
                let end = try reader.element(at: offset)?.end
            else { break }
            best = found
            offset = end
        }
        return best
    }

    /// The cluster that begins at an offset; nil when there is none.
    private func cluster(at offset: Int64) throws(Interruption) -> Cluster? {
        guard let element = try reader.element(at: offset), element.id == MatroskaID.cluster else { return nil }
        var fields = EBMLChildren(reader: reader, offset: element.content, end: element.end ?? .max)
        // A few others may come before the time.
        for _ in 0..<4 {
            guard let field = try fields.next() else { return nil }
            switch field.id {
            case MatroskaID.timestamp: return Cluster(offset: offset, time: Int64(clamping: try reader.unsigned(field)))
            case MatroskaID.void, MatroskaID.checksum, MatroskaID.previousSize, MatroskaID.clusterPosition: continue
            default: return nil
            }
        }
        return nil
    }

    /// The first cluster that begins at an offset or after it.
    func cluster(from start: Int64, upTo end: Int64 = .max) throws(Interruption) -> Cluster? {
        var offset = start
        while offset < end {
            let bytes = try SourceReader(reader.source).bytes(Self.pageSize, at: offset)
            guard bytes.count >= 4 else { return nil }
            for place in 0...(bytes.count - 4) where bytes[place] == 0x1F && bytes[place + 1] == 0x43 {
                guard bytes[place + 2] == 0xB6, bytes[place + 3] == 0x75, offset + Int64(place) < end,
                    let found = try cluster(at: offset + Int64(place))
                else { continue }
                return found
            }
            offset += Int64(bytes.count - 3)
        }
        return nil
    }
}
