/// Finds the blocks of WavPack in a source.
struct WavPackBlocks {
    /// The blocks of the same frames, one after the other.
    struct Run: Equatable {
        let offset: Int64
        private(set) var byteCount: Int
        private(set) var channelCount: Int
        /// The header of the first block.
        let header: WavPackHeader

        var end: Int64 { offset + Int64(byteCount) }
        /// The first frame of the next run.
        var nextIndex: Int64 { header.index + Int64(header.frameCount) }

        fileprivate init(_ header: WavPackHeader, at offset: Int64) {
            self.offset = offset
            self.header = header
            byteCount = header.byteCount
            channelCount = header.channelCount
        }

        fileprivate mutating func add(_ other: WavPackHeader) {
            byteCount += other.byteCount
            channelCount += other.channelCount
        }
    }

    enum Step: Equatable {
        case run(Run)
        case end(isCut: Bool)
    }

    let source: any ByteSource
    /// The offset of the tags at the end; nil when that is not known.
    let end: Int64?

    /// The most bytes that are searched for a block.
    static let mostJunk: Int64 = 16_777_216
    /// The most blocks without sound in a row.
    private static let mostSilentBlocks = 1000
    private static let mostBlocks = 8

    func header(at offset: Int64) throws(Interruption) -> WavPackHeader? {
        guard offset < end ?? AudioLimits.largestData else { return nil }
        return WavPackHeader(try SourceReader(source).bytes(WavPackHeader.size, at: offset))
    }

    /// The run at `offset`, or the next one after other bytes.
    func next(from offset: Int64) throws(Interruption) -> Step {
        var offset = offset
        var isCut = false
        for _ in 0..<Self.mostSilentBlocks {
            if let header = try header(at: offset) {
                if header.frameCount == 0, try isPresent(upTo: offset + Int64(header.byteCount)) {
                    offset += Int64(header.byteCount)
                    continue
                }
                switch try run(header, at: offset) {
                case .run(let run): return .run(run)
                case .end(let isCutHere): isCut = isCut || isCutHere
                }
            } else if try !isPresent(upTo: offset + 1) {
                return .end(isCut: isCut)
            }
            guard let found = try search(from: offset + 1, upTo: offset + Self.mostJunk) else {
                return .end(isCut: isCut)
            }
            offset = found
        }
        return .end(isCut: isCut)
    }

    /// The run that begins with a header; `.end` when it is not whole. `isCut` is set when the source ends in it.
    private func run(_ first: WavPackHeader, at offset: Int64) throws(Interruption) -> Step {
        guard first.isFirst, first.frameCount > 0 else { return .end(isCut: false) }
        var run = Run(first, at: offset)
        var last = first
        for _ in 0..<Self.mostBlocks where !last.isLast {
            guard let next = try header(at: run.end) else {
                return .end(isCut: try !isPresent(upTo: run.end + Int64(WavPackHeader.size)))
            }
            guard !next.isFirst, next.index == first.index, next.frameCount == first.frameCount else {
                return .end(isCut: false)
            }
            run.add(next)
            last = next
        }
        guard last.isLast else { return .end(isCut: false) }
        return try isPresent(upTo: run.end) ? .run(run) : .end(isCut: true)
    }

    /// Whether the source has all bytes before `offset`.
    private func isPresent(upTo offset: Int64) throws(Interruption) -> Bool {
        if let end { return offset <= end }
        return try !SourceReader(source).bytes(1, at: offset - 1).isEmpty
    }

    /// The next header of a first block that another block follows, or the end.
    func search(from start: Int64, upTo limit: Int64) throws(Interruption) -> Int64? {
        var cursor = SourceCursor(source, from: start, to: min(limit, end ?? AudioLimits.largestData))
        var word: UInt32 = 0
        while let byte = try cursor.byte() {
            word = word << 8 | UInt32(byte)
            guard word == FourCharacterCode("wvpk").rawValue else { continue }
            let offset = cursor.offset - 4
            guard let header = try header(at: offset), header.isFirst else { continue }
            let next = offset + Int64(header.byteCount)
            if try self.header(at: next) != nil { return offset }
            if try isPresent(upTo: next), try !isPresent(upTo: next + Int64(WavPackHeader.size)) { return offset }
        }
        return nil
    }
}
