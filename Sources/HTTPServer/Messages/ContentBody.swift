import CLinux
import Platform

/// The bytes of an answer: pieces of memory and of files, in order. A file is read when its bytes are sent.
package struct ContentBody: Sendable {
    package enum Piece: Sendable {
        case bytes([UInt8])
        /// A part of a file.
        case file(OpenedFile, Range<Int64>)
        /// Bytes that are made while they are sent.
        case made(MadeBytes, Range<Int64>)

        package var count: Int64 {
            switch self {
            case .bytes(let bytes): Int64(bytes.count)
            case .file(_, let range), .made(_, let range): range.upperBound - range.lowerBound
            }
        }
    }

    package private(set) var pieces: [Piece]
    /// The size in bytes.
    package let count: Int64

    package init(_ pieces: [Piece]) {
        self.pieces = pieces
        count = pieces.reduce(0) { $0 + $1.count }
    }

    package init(_ bytes: [UInt8] = []) { self.init([.bytes(bytes)]) }

    /// - Parameter range: a range inside 0..<count.
    package func slice(_ range: Range<Int64>) -> ContentBody {
        var start: Int64 = 0
        var parts: [Piece] = []
        for piece in pieces {
            let inside = range.clamped(to: start..<(start + piece.count))
            if !inside.isEmpty {
                let (lower, upper) = (inside.lowerBound - start, inside.upperBound - start)
                switch piece {
                case .bytes(let bytes): parts.append(.bytes(Array(bytes[Int(lower)..<Int(upper)])))
                case .file(let file, let whole):
                    parts.append(.file(file, (whole.lowerBound + lower)..<(whole.lowerBound + upper)))
                case .made(let bytes, let whole):
                    parts.append(.made(bytes, (whole.lowerBound + lower)..<(whole.lowerBound + upper)))
                }
            }
            start += piece.count
        }
        return ContentBody(parts)
    }

    /// Reads the bytes from `offset` on; fewer than the buffer has room for at the end of a piece.
    /// - Returns: 0 at the end.
    /// - Throws: EIO when a file has become shorter.
    package func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(SystemError) -> Int {
        var start: Int64 = 0
        for piece in pieces {
            if offset < start + piece.count {
                let inside = offset - start
                let room = UnsafeMutableRawBufferPointer(
                    rebasing: buffer.prefix(Int(clamping: min(Int64(buffer.count), piece.count - inside))))
                switch piece {
                case .bytes(let bytes):
                    room.copyBytes(from: bytes[Int(inside)..<(Int(inside) + room.count)])
                case .file(let file, let whole):
                    let count = try file.file.read(into: room, at: whole.lowerBound + inside)
                    guard count == room.count else {
                        throw SystemError(code: EIO, operation: "read", subject: file.file.path)
                    }
                case .made(let made, let whole):
                    let bytes = made.read(room.count, whole.lowerBound + inside)
                    guard !bytes.isEmpty, bytes.count <= room.count else {
                        throw SystemError(code: EIO, operation: "make", subject: "the body")
                    }
                    room.copyBytes(from: bytes)
                    return bytes.count
                }
                return room.count
            }
            start += piece.count
        }
        return 0
    }

    /// Returns all bytes, in memory.
    package func bytes() throws(SystemError) -> [UInt8] {
        var all = [UInt8](repeating: 0, count: Int(clamping: count))
        try all.withUnsafeMutableBufferPointer { (elements) throws(SystemError) in
            let buffer = UnsafeMutableRawBufferPointer(elements)
            var done = 0
            while done < buffer.count {
                done += try read(into: .init(rebasing: buffer[done...]), at: Int64(done))
            }
        }
        return all
    }
}

/// Bytes that are made while they are sent, so that the whole need not be in memory.
package struct MadeBytes: Sendable {
    /// Returns up to `count` bytes from `offset` on; none when reading fails. Called on the connection's thread.
    let read: @Sendable (_ count: Int, _ offset: Int64) -> [UInt8]

    package init(read: @escaping @Sendable (_ count: Int, _ offset: Int64) -> [UInt8]) { self.read = read }
}
