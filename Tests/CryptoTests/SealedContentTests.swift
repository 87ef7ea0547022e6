import Crypto
import Platform
import TestSupport
import Testing

@Suite("Sealed content that grows")
struct SealedContentTests {
    private static let identity = [UInt8](repeating: 7, count: 16)
    private static let chunk = SealedLayout.chunkCount

    private func bytes(_ range: Range<Int>) -> [UInt8] { range.map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) } }

    /// The whole content, read `size` bytes at a time, from the end when `backwards` is set.
    private func content(of writer: SealedWriter, size: Int, backwards: Bool) throws -> [UInt8] {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: size, alignment: 1)
        defer { buffer.deallocate() }
        var offsets = Array(stride(from: Int64(0), to: writer.count, by: size))
        if backwards { offsets.reverse() }
        var content = [UInt8](repeating: 0, count: Int(writer.count))
        for offset in offsets {
            var position = offset
            while position < min(offset + Int64(size), writer.count) {
                let count = try writer.read(into: buffer, at: position)
                for index in 0..<count where Int(position) + index < content.count {
                    content[Int(position) + index] = buffer[index]
                }
                position += Int64(count)
            }
        }
        #expect(try writer.read(into: buffer, at: writer.count) == 0)
        #expect(try writer.read(into: buffer, at: -1) == 0)
        return content
    }

    @Test(
        "Appended bytes are read before and after the end, in any order",
        arguments: [0, 1, 65_536, 65_537, 131_072, 200_000])
    func reading(count: Int) throws {
        let folder = try ScratchFolder()
        let key = SecretBytes(count: 32) { $0.initializeMemory(as: UInt8.self, repeating: 1) }
        let writer = try SealedWriter(creating: folder.path + "/content", Self.identity, key)
        for start in stride(from: 0, to: count, by: 10_000) {
            try writer.append(bytes(start..<min(count, start + 10_000)))
        }
        for backwards in [false, true] {
            let read = try content(of: writer, size: 9999, backwards: backwards)
            #expect(read == bytes(0..<count))
        }
        try writer.finish()
        let read = try content(of: writer, size: 70_000, backwards: true)
        #expect(read == bytes(0..<count))
    }

    @Test("Content that is continued is read from its beginning, and damage in it is found")
    func continuing() throws {
        let folder = try ScratchFolder()
        let key = SecretBytes(count: 32) { $0.initializeMemory(as: UInt8.self, repeating: 1) }
        let path = folder.path + "/content"
        try SealedWriter(creating: path, Self.identity, key).append(bytes(0..<(3 * Self.chunk + 5)))
        let writer = try SealedWriter(continuing: path, Self.identity, count: Int64(2 * Self.chunk), key)
        try writer.append(bytes((2 * Self.chunk)..<(2 * Self.chunk + 100)))
        let read = try content(of: writer, size: 50_000, backwards: false)
        #expect(read == bytes(0..<(2 * Self.chunk + 100)))
        try flipBit(ofFile: path) { _ in 100 }
        #expect(throws: SealedFileError.damaged(.notAuthentic)) {
            _ = try content(of: writer, size: 50_000, backwards: false)
        }
    }
}
