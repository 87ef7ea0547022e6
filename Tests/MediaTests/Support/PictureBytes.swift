import Platform

@testable import Media

extension TagPicture {
    /// The picture, read from the file by its location, as a player does it.
    func bytes(in file: [UInt8]) -> [UInt8]? {
        guard let coded = page.map({ paged(file, from: Int($0)) }) ?? run(file) else { return nil }
        switch encoding {
        case .plain: return coded
        case .unsynchronised:
            return coded.indices.filter { $0 == 0 || coded[$0] != 0 || coded[$0 - 1] != 0xFF }.map { coded[$0] }
        case .base64(let dropped): return Base64.bytes(coded).map { Array($0.dropFirst(dropped)) }
        }
    }

    private func run(_ file: [UInt8]) -> [UInt8]? {
        guard offset >= 0, length > 0, offset + length <= file.count else { return nil }
        return Array(file[Int(offset)..<Int(offset + length)])
    }

    /// The bodies of the pages of one stream, one after the other.
    private func paged(_ file: [UInt8], from page: Int) -> [UInt8]? {
        func serial(_ page: Int) -> ArraySlice<UInt8> { file[(page + 14)..<(page + 18)] }
        var bytes: [UInt8] = []
        var start = page
        while bytes.count < Int(length) {
            guard start + 27 <= file.count, file[start..<(start + 4)].elementsEqual("OggS".utf8) else { return nil }
            let body = start + 27 + Int(file[start + 26])
            let end = file[(start + 27)..<body].reduce(body) { $0 + Int($1) }
            if serial(start) == serial(page) { bytes += file[max(body, start == page ? Int(offset) : 0)..<end] }
            start = end
        }
        return Array(bytes.prefix(Int(length)))
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
