@testable import Media

extension TagPicture {
    /// The picture, read from the file by its location, as a player does it.
    func bytes(in file: [UInt8]) -> [UInt8]? {
        guard let picture = try? PictureBytes(of: self, in: MemorySource(file)) else { return nil }
        // In parts that are no multiple of anything; a part is the same wherever the one before it was.
        var bytes: [UInt8] = []
        for offset in stride(from: 0, to: picture.size, by: 4099) {
            guard let part = try? picture.read(4099, at: offset) else { return nil }
            bytes += part
        }
        guard picture.size == Int64(bytes.count), (try? picture.read(10, at: picture.size)) == [] else { return nil }
        let middle = picture.size / 2
        return (try? picture.read(7, at: middle)) == Array(bytes.dropFirst(Int(middle)).prefix(7)) ? bytes : nil
    }
}

/// Bytes that look like a picture when only the beginning is read.
enum Covers {
    static func jpeg(_ count: Int, seed: UInt64 = 9) -> [UInt8] {
        var generator = SeededGenerator(seed: seed)
        var bytes = [UInt8](repeating: 0, count: count)
        // Without closures: a debug build is slow with them.
        var index = 0
        while index + 8 <= count {
            var word = generator.next()
            // Unsynchronisation concerns a zero after 0xFF.
            if index % 512 == 0 { word = 0x00FF_E0FF_00FF_1234 }
            for byte in 0..<8 { bytes[index + byte] = UInt8(truncatingIfNeeded: word >> UInt64(8 * byte)) }
            index += 8
        }
        bytes.replaceSubrange(0..<4, with: [0xFF, 0xD8, 0xFF, 0xE0])
        return bytes
    }

    static func png(_ count: Int) -> [UInt8] {
        var bytes = jpeg(count, seed: 10)
        bytes.replaceSubrange(0..<8, with: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A])
        return bytes
    }
}
