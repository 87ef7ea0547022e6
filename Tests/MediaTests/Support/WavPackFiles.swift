import Foundation

@testable import Media

extension Signal {
    /// The signal as the real `wavpack` encodes it.
    func wavpack(_ options: [String] = []) throws -> [UInt8] { try WavPackFile.encode(extensibleWAV, options) }
}

enum WavPackFile {
    /// A file as the real `wavpack` encodes it.
    static func encode(_ file: [UInt8], _ options: [String], name: String = "input.wav") throws -> [UInt8] {
        try withTemporaryFolder { folder in
            try Files.write(file, name, folder)
            try Tool.wavpack.run(["-q", "-y"] + options + [name, "-o", "file.wv"], in: folder)
            return try Files.read("file.wv", folder)
        }
    }

    /// The samples that the real `wvunpack` decodes, in their own bytes.
    static func decode(_ bytes: [UInt8]) throws -> [UInt8] {
        try withTemporaryFolder { folder in
            try Files.write(bytes, "file.wv", folder)
            try Tool.wvunpack.run(["-q", "-y", "-r", "file.wv", "-o", "decoded.raw"], in: folder)
            return try Files.read("decoded.raw", folder)
        }
    }
}

/// A file of WavPack taken apart into blocks, and the bytes after them.
struct WavPackMap {
    var blocks: [[UInt8]] = []
    var tail: [UInt8]

    init(_ bytes: [UInt8]) {
        var start = 0
        while start + 32 <= bytes.count, let header = WavPackHeader(Array(bytes[start..<(start + 32)])) {
            blocks.append(Array(bytes[start..<(start + header.byteCount)]))
            start += header.byteCount
        }
        tail = Array(bytes[start...])
    }

    var bytes: [UInt8] { blocks.flatMap(\.self) + tail }

    func header(_ block: Int) -> WavPackHeader? { WavPackHeader(blocks[block]) }
}
