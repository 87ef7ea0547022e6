import Platform

/// The write-ahead log of a database, read without SQLite.
///
/// After a power cut a log ends with a frame that has a wrong checksum. So SQLite takes such a frame for the end of the
/// log. One flipped bit in the middle therefore drops all later transactions without an error. This type distinguishes
/// the two cases, and repairs the log if possible.
///
/// Thread: any that may block on the medium, before SQLite opens the file: SQLite's recovery truncates the log.
struct WriteAheadLog {
    /// A frame at which SQLite would stop reading.
    struct Damage: Equatable {
        /// The first wrong frame, from 0; -1 for the header of the log.
        var frame: Int
        /// Whether every wrong bit is known, so that the repair restores the log exactly.
        var isRepairable: Bool
    }

    private struct Correction {
        var offset: Int64
        var mask: UInt8
    }

    private static let headerLength = 32
    private static let frameHeaderLength = 24

    /// The damage; nil for a complete log, or one that a power cut has ended.
    private(set) var damage: Damage?
    private var corrections: [Correction] = []
    /// The number of frames up to the last one of this log.
    private var frameCount = 0
    private var pageSize = 0
    private var isBigEndian = false
    private var salts = LogChecksum.zero

    /// - Parameter path: the path of the log. A missing file is an empty log.
    init(_ path: String) throws(SystemError) {
        guard FileKind(at: path) == .file else { return }
        let file = try File(reading: path)
        guard var sum = try readHeader(file) else { return }
        // False when an error is found that is not the end of the log.
        var isTrusted = true
        // The first wrong frame that cannot be repaired, and whether its transaction was committed.
        var firstWrong: Int?
        var isCommittedBehind = false
        while let frame = try readFrame(frameCount, file) {
            let computed = sum.adding(frame.words)
            var next = frame.stored
            if !belongs(frame) { break }
            let outcome: Outcome = computed == frame.stored ? .right(computed) : try correct(frame, computed, file)
            switch outcome {
            case .right(let checksum):
                next = checksum
                // Frames after a commit are written only after the commit is on the medium.
                if firstWrong != nil, isCommittedBehind { isTrusted = false }
            case .oneOfSeveral:
                firstWrong = firstWrong ?? frameCount
                isTrusted = false
            case .unknown: firstWrong = firstWrong ?? frameCount
            }
            if firstWrong != nil, frame.isCommit { isCommittedBehind = true }
            sum = next
            frameCount += 1
        }
        if let firstWrong, !isTrusted {
            damage = Damage(frame: min(damage?.frame ?? firstWrong, firstWrong), isRepairable: false)
        } else if let firstWrong {
            // Ended by a power cut: this transaction was never acknowledged.
            frameCount = firstWrong
            if let damage, damage.frame >= firstWrong { self.damage = nil }
        }
    }

    // MARK: Reading

    private struct Frame {
        /// The words that the checksum covers: page number, commit size, the page.
        var words: [UInt32]
        var salts: LogChecksum
        var stored: LogChecksum
        var isCommit: Bool { words[1] != 0 }
    }

    /// - Returns: the checksum that the first frame continues; nil without a log.
    private mutating func readHeader(_ file: borrowing File) throws(SystemError) -> LogChecksum? {
        guard let bytes = try Self.read(file, 0, Self.headerLength) else { return nil }
        let stored = LogChecksum(first: Self.number(bytes, 24), second: Self.number(bytes, 28))
        // The byte order is a bit of the header too, and may itself be wrong.
        for order in [bytes[3], bytes[3] ^ 1] {
            isBigEndian = order & 1 == 1
            let words = words(bytes[..<24])
            let computed = LogChecksum.zero.adding(words)
            if computed == stored, order == bytes[3] { return adopt(bytes) ? stored : nil }
            if computed.distance(to: stored) == 1, order == bytes[3], adopt(bytes),
                try isFollowed(by: 0, computed, file)
            {
                note(24, Self.difference(computed, stored), frame: -1)
                return computed
            }
            for wrong in LogChecksum.wrongBits(in: words, found: computed, expected: stored) {
                let (offset, mask) = place(wrong.word, wrong.bit)
                var corrected = bytes
                corrected[offset] ^= mask
                guard corrected[3] & 1 == order & 1, adopt(corrected), try isFollowed(by: 0, stored, file) else {
                    continue
                }
                corrections.append(Correction(offset: Int64(offset), mask: mask))
                damage = Damage(frame: -1, isRepairable: true)
                return stored
            }
            if order != bytes[3] {
                var corrected = bytes
                corrected[3] = order
                guard LogChecksum.zero.adding(self.words(corrected[..<24])) == stored, adopt(corrected) else {
                    continue
                }
                corrections.append(Correction(offset: 3, mask: 1))
                damage = Damage(frame: -1, isRepairable: true)
                return stored
            }
        }
        return nil
    }

    /// - Returns: false when it is not the header of a log.
    private mutating func adopt(_ header: [UInt8]) -> Bool {
        let size = Self.number(header, 8)
        guard Self.number(header, 0) & ~1 == 0x377F_0682, Self.number(header, 4) == 3_007_000, size >= 512,
            size <= 65_536, size & (size - 1) == 0
        else { return false }
        pageSize = Int(size)
        salts = LogChecksum(first: Self.number(header, 16), second: Self.number(header, 20))
        return true
    }

    /// Whether the next frame continues `checksum`.
    private func isFollowed(
        by index: Int, _ checksum: LogChecksum, _ file: borrowing File
    ) throws(SystemError) -> Bool {
        guard let frame = try readFrame(index, file) else { return false }
        return frame.salts == salts && checksum.adding(frame.words) == frame.stored
    }

    private func offset(ofFrame index: Int) -> Int64 { Self.length(ofFrames: index, pageSize: pageSize) }

    /// Returns the length of a log with this number of frames.
    static func length(ofFrames count: Int, pageSize: Int) -> Int64 {
        Int64(headerLength) + Int64(count) * Int64(frameHeaderLength + pageSize)
    }

    /// Returns nil at the end of the file.
    private func readFrame(_ index: Int, _ file: borrowing File) throws(SystemError) -> Frame? {
        guard let bytes = try Self.read(file, offset(ofFrame: index), Self.frameHeaderLength + pageSize) else {
            return nil
        }
        return Frame(
            words: words(bytes[..<8]) + words(bytes[Self.frameHeaderLength...]),
            salts: LogChecksum(first: Self.number(bytes, 8), second: Self.number(bytes, 12)),
            stored: LogChecksum(first: Self.number(bytes, 16), second: Self.number(bytes, 20)))
    }

    private static func read(_ file: borrowing File, _ offset: Int64, _ count: Int) throws(SystemError) -> [UInt8]? {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: count, alignment: 8)
        defer { buffer.deallocate() }
        return try file.read(into: buffer, at: offset) == count ? Array(buffer) : nil
    }

    /// Returns the words in the byte order of the checksum.
    private func words(_ bytes: ArraySlice<UInt8>) -> [UInt32] {
        var words: [UInt32] = []
        words.reserveCapacity(bytes.count / 4)
        var index = bytes.startIndex
        while index + 3 < bytes.endIndex {
            let (a, b, c, d) = (bytes[index], bytes[index + 1], bytes[index + 2], bytes[index + 3])
            words.append(
                isBigEndian
                    ? UInt32(a) << 24 | UInt32(b) << 16 | UInt32(c) << 8 | UInt32(d)
                    : UInt32(d) << 24 | UInt32(c) << 16 | UInt32(b) << 8 | UInt32(a))
            index += 4
        }
        return words
    }

    /// Returns a field of a header: always the highest byte first.
    private static func number(_ bytes: [UInt8], _ index: Int) -> UInt32 {
        bytes[index..<(index + 4)].reduce(0) { $0 << 8 | UInt32($1) }
    }

    // MARK: Repairing

    /// Whether the frame belongs to this log, and not to an earlier one in the same file. One wrong bit is ignored,
    /// because the second salt is a new random number each time.
    private mutating func belongs(_ frame: Frame) -> Bool {
        switch frame.salts.distance(to: salts) {
        case 0: return true
        case 1:
            note(offset(ofFrame: frameCount) + 8, Self.difference(frame.salts, salts), frame: frameCount)
            return true
        default: return false
        }
    }

    private enum Outcome {
        /// The frame has no wrong bit, or one that was recorded; with the right checksum.
        case right(LogChecksum)
        /// One bit is wrong, with several possible positions.
        case oneOfSeveral
        case unknown
    }

    private mutating func correct(
        _ frame: Frame, _ computed: LogChecksum, _ file: borrowing File
    ) throws(SystemError) -> Outcome {
        let start = offset(ofFrame: frameCount)
        let candidates = LogChecksum.wrongBits(in: frame.words, found: computed, expected: frame.stored)
        if computed.distance(to: frame.stored) == 1 {
            // The bit is in the checksum itself when the next frame continues the computed one.
            let isInChecksum = candidates.isEmpty ? true : try isFollowed(by: frameCount + 1, computed, file)
            if isInChecksum {
                note(start + 16, Self.difference(computed, frame.stored), frame: frameCount)
                return .right(computed)
            }
            guard try isFollowed(by: frameCount + 1, frame.stored, file) else { return .oneOfSeveral }
        }
        guard candidates.count == 1, let wrong = candidates.first else {
            return candidates.isEmpty ? .unknown : .oneOfSeveral
        }
        let (offset, mask) = place(wrong.word, wrong.bit)
        corrections.append(
            Correction(offset: start + Int64(offset < 8 ? offset : offset - 8 + Self.frameHeaderLength), mask: mask))
        damage = damage ?? Damage(frame: frameCount, isRepairable: true)
        return .right(frame.stored)
    }

    /// Returns the position of a bit of a word, in bytes that the checksum covers.
    private func place(_ word: Int, _ bit: UInt32) -> (offset: Int, mask: UInt8) {
        let byte = Int(bit / 8)
        return (4 * word + (isBigEndian ? 3 - byte : byte), 1 << UInt8(bit % 8))
    }

    /// Returns the one bit that differs between two pairs of header fields.
    private static func difference(_ one: LogChecksum, _ other: LogChecksum) -> (offset: Int, mask: UInt8) {
        let first = one.first ^ other.first
        let bits = first != 0 ? first : one.second ^ other.second
        let bit = bits.trailingZeroBitCount
        return ((first != 0 ? 0 : 4) + 3 - bit / 8, 1 << UInt8(bit % 8))
    }

    private mutating func note(_ field: Int64, _ bit: (offset: Int, mask: UInt8), frame: Int) {
        corrections.append(Correction(offset: field + Int64(bit.offset), mask: bit.mask))
        damage = damage ?? Damage(frame: frame, isRepairable: true)
    }

    /// Repairs a copy of the log: wrong bits are corrected. For other damage the checksums are recomputed, so that
    /// SQLite reads on; the damage is then in the rows.
    func repair(copy path: String) throws(SystemError) {
        let file = try File(updating: path, mode: 0o600)
        for correction in corrections {
            guard let byte = try Self.read(file, correction.offset, 1) else { continue }
            try Self.write([byte[0] ^ correction.mask], to: file, correction.offset)
        }
        guard damage?.isRepairable == false, let header = try Self.read(file, 0, Self.headerLength) else { return }
        var sum = LogChecksum(first: Self.number(header, 24), second: Self.number(header, 28))
        for index in 0..<frameCount {
            guard let frame = try readFrame(index, file) else { break }
            sum.add(frame.words)
            let bytes = [sum.first, sum.second].flatMap { word in
                (0..<4).map { UInt8(truncatingIfNeeded: word >> (24 - 8 * UInt32($0))) }
            }
            try Self.write(bytes, to: file, offset(ofFrame: index) + 16)
        }
    }

    private static func write(_ bytes: [UInt8], to file: borrowing File, _ offset: Int64) throws(SystemError) {
        let error = bytes.withUnsafeBytes { all in
            do throws(SystemError) {
                try file.write(all, at: offset)
                return nil as SystemError?
            } catch {
                return error
            }
        }
        if let error { throw error }
    }
}
