import PCM
import TestSupport
import Testing

@testable import Media

@Suite("Seeks in fragmented MP4 without a segment index", Tool.needsFFmpeg)
struct MP4FragmentSeekTests {
    private static let signal = Signal(frames: 1_000_000)

    /// About 220 fragments, with a list of them at the end.
    private static func file(_ flags: String = "") throws -> [UInt8] {
        try signal.ffmpeg(
            MP4Tests.flac + ["-movflags", "frag_keyframe+empty_moov" + flags, "-frag_duration", "90000"],
            to: "file.mp4")
    }

    private static let files = MadeOnce<[UInt8]>()

    /// - Parameter isRelative: whether offsets in a fragment count from its beginning.
    private static func made(isRelative: Bool = false) throws -> [UInt8] {
        try files.value("\(isRelative)") { try file(isRelative ? "+default_base_moof" : "") }
    }

    private static func list(in bytes: [UInt8]) throws -> Range<Int> {
        try #require(Boxes.find(["mfra"], in: bytes).first)
    }

    /// - Returns: the reads of the most expensive seek.
    @discardableResult
    private func check(_ bytes: [UInt8], _ frames: [Int] = [990_000, 0, 500_001, 730_000, 4608, 250_000, 999_999])
        throws -> Int
    {
        let memory = MemorySource(bytes)
        let decoder = try AudioFile.open(memory)
        var dearest = 0
        for frame in frames {
            let before = memory.readCount
            try decoder.seek(toFrame: Int64(frame))
            dearest = max(dearest, memory.readCount - before)
            let expected = Self.signal.slice(frame..<min(1_000_000, frame + 6000))
            #expect(try difference(decoder.decode(frames: 6000), expected) == nil, "frame \(frame)")
        }
        return dearest
    }

    @Test("The list at the end (mfra) is used: a seek reads a few pages", arguments: [false, true])
    func list(isRelative: Bool) throws {
        let bytes = try Self.made(isRelative: isRelative)
        #expect(Boxes.find(["moof"], in: bytes).count > 200)
        let cut = Array(bytes[..<(try Self.list(in: bytes).lowerBound)])
        let (listed, halved) = (try check(bytes), try check(cut))
        #expect(listed < 24 && listed < halved, "\(listed), \(halved)")
    }

    @Test("Without it, a seek halves the bytes", arguments: [false, true])
    func halving(isRelative: Bool) throws {
        let bytes = try Self.made(isRelative: isRelative)
        let cut = Array(bytes[..<(try Self.list(in: bytes).lowerBound)])
        #expect(try check(cut) < 60)
        // A file that is cut off ends where it ends.
        let decoder = try AudioFile.open(MemorySource(Array(cut[..<(cut.count * 3 / 4)])))
        try decoder.seek(toFrame: 600_000)
        #expect(try difference(decoder.decode(frames: 6000), Self.signal.slice(600_000..<606_000)) == nil)
        try decoder.seek(toFrame: 990_000)
        #expect(try decoder.decode(frames: 6000).isEmpty)
    }

    @Test("A list that is damaged or lies costs reads, not the position", arguments: 0..<8)
    func lyingList(damage: Int) throws {
        var bytes = try Self.made()
        let list = try Self.list(in: bytes)
        let entries = list.lowerBound + 8 + 24
        let table = Array(bytes[(list.lowerBound + 8)..<(list.lowerBound + 32)])
        let isLong = table[8] > 0
        let width = isLong ? 8 : 4
        let size = 2 * width + 3 + Int(table[19] & 3) + Int(table[19] >> 2 & 3) + Int(table[19] >> 4 & 3)
        let count = table[20..<24].reduce(0) { $0 << 8 | Int($1) }
        try #require(count > 200 && entries + count * size <= list.upperBound)
        func change(_ place: Int, _ change: (Int) -> Int) {
            for entry in 0..<count {
                let start = entries + entry * size + place * width
                let value = bytes[start..<(start + width)].reduce(0) { $0 << 8 | Int($1) }
                bytes.replaceSubrange(start..<(start + width), with: Boxes.big(max(0, change(value)), width))
            }
        }
        switch damage {
        case 0: change(1) { $0 + 5 }
        case 1: change(1) { $0 - 30_000 }
        case 2: change(1) { _ in 0 }
        case 3: change(0) { $0 / 3 }
        case 4: change(0) { $0 * 2 }
        case 5: change(0) { $0 + 20_000 }
        case 6: bytes.removeSubrange(entries..<(entries + 100))
        default: bytes.replaceSubrange((bytes.count - 4)..<bytes.count, with: [0xFF, 0xFF, 0xFF, 0xFF])
        }
        #expect(try check(bytes) < 320)
    }

    @Test("Bytes that look like fragments are passed over")
    func falseFragments() throws {
        let bytes = try Self.made(isRelative: true)
        let cut = bytes[..<(try Self.list(in: bytes).lowerBound)]
        let fragments = Boxes.find(["moof"], in: Array(cut))
        // Where the first probe begins, in a box that players pass over.
        let place = fragments[fragments.count / 2].lowerBound
        let fake =
            (0..<40).flatMap { _ in Boxes.box("moof", Boxes.full("mfhd", Boxes.big(1, 4))) }
            + Array(bytes[fragments[3]]) + Array("moofmoofmoof".utf8)
        try check(Array(cut[..<place]) + Boxes.box("free", fake) + Array(cut[place...]))
    }

    @Test("Bytes that are not there yet: the same place", arguments: [false, true])
    func notYet(isListed: Bool) throws {
        let bytes = try Self.made()
        let memory = MemorySource(isListed ? bytes : Array(bytes[..<(try Self.list(in: bytes).lowerBound)]))
        let decoder = try AudioFile.open(memory)
        memory.notYetEvery = 3
        for frame in [990_000, 250_000] {
            try decoder.seek(toFrame: Int64(frame))
            let expected = Self.signal.slice(frame..<(frame + 6000))
            #expect(try difference(decoder.decode(frames: 6000), expected) == nil, "frame \(frame)")
        }
        #expect(memory.notYetCount > 0)
    }
}
