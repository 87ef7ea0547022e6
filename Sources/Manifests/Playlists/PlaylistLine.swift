import Platform

/// The lines of a playlist that this program writes (M3U in UTF-8). `PlaylistFile` reads the same entries from them.
///
///     PlaylistLine.bytes(of: "/music/Joni/blue.flac", in: "/music/lists")      // "../Joni/blue.flac"
///
/// A path beside the playlist's folder, or below such a one, is relative: both may move together. A name that no line
/// of UTF-8 can have is an address (`file:///…%0A`).
public enum PlaylistLine {
    private static let digits = Array("0123456789ABCDEF".utf8)

    /// Returns the line of an absolute path, or of an address of http, https or `tonearm:`.
    /// - Parameter folder: the folder of the playlist, as for `PlaylistFile`.
    /// - Returns: nil for anything else, and for an entry that no line can have.
    public static func bytes(of entry: String, in folder: String) -> [UInt8]? {
        let bytes = nameBytes(entry)
        if bytes.contains(0) { return nil }
        let line: [UInt8]
        if bytes.first == UInt8(ascii: "/") {
            line = isPlain(bytes) ? relative(bytes, to: nameBytes(folder)) : address(of: bytes)
        } else {
            guard isPlain(bytes), PlaylistEntry(webAddress: bytes) ?? PlaylistEntry(serviceAddress: bytes) != nil
            else { return nil }
            line = bytes
        }
        return line.count <= PlaylistFile.longestPath ? line : nil
    }

    /// Whether the bytes of a file are lines of UTF-8, without a byte-order mark.
    public static func isUTF8(_ bytes: [UInt8]) -> Bool {
        WideText.utf8(of: bytes) == nil && !bytes.starts(with: [0xEF, 0xBB, 0xBF]) && TextEncoding.isUTF8(bytes)
    }

    /// Returns the line before appended lines of `count` bytes. If fewer bytes follow it, a last line without its end
    /// is torn. Otherwise that line may be one of another program, which is complete.
    package static func mark(_ count: Int) -> [UInt8] { Array("#+\(count)\n".utf8) }

    /// Returns a file's bytes without a torn last line. All readers of playlists use it.
    package static func whole(_ bytes: [UInt8]) -> [UInt8] {
        guard let last = bytes.last, last != UInt8(ascii: "\n"), let end = bytes.lastIndex(of: UInt8(ascii: "\n")),
            let mark = lastMark(bytes[...end]), bytes.count - mark.end < mark.count
        else { return bytes }
        return Array(bytes[...end])
    }

    /// Returns the index after the last mark, and the number of bytes that should follow.
    private static func lastMark(_ bytes: ArraySlice<UInt8>) -> (end: Int, count: Int)? {
        for line in bytes.split(separator: UInt8(ascii: "\n")).reversed() where line.starts(with: "#+".utf8) {
            if let count = Int(String(decoding: line.dropFirst(2), as: UTF8.self)) { return (line.endIndex + 1, count) }
        }
        return nil
    }

    private static func nameBytes(_ name: String) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(name.utf8.count)
        for scalar in name.unicodeScalars {
            if let byte = FileName.byte(of: scalar) { bytes.append(byte) } else { bytes += scalar.utf8 }
        }
        return bytes
    }

    /// Whether the bytes are UTF-8 without control characters, and have no blank at an end, which readers remove.
    private static func isPlain(_ bytes: [UInt8]) -> Bool {
        let isBlankAtEnd = bytes.last == 0x20 || bytes.first == 0x20
        return !isBlankAtEnd && !bytes.contains { $0 < 0x20 || $0 == 0x7F } && TextEncoding.isUTF8(bytes)
    }

    private static func relative(_ path: [UInt8], to folder: [UInt8]) -> [UInt8] {
        guard let slash = folder.lastIndex(of: UInt8(ascii: "/")), slash > 0 else { return path }
        let parent = folder[...slash]
        return path.count > parent.count && path.starts(with: parent)
            ? Array("../".utf8) + path.dropFirst(parent.count) : path
    }

    /// `file:///…` (RFC 8089).
    private static func address(of path: [UInt8]) -> [UInt8] {
        var address = Array("file://".utf8)
        for byte in path {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "/"), UInt8(ascii: "."), UInt8(ascii: "-"),
                UInt8(ascii: "_"):
                address.append(byte)
            default: address += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return address
    }
}
