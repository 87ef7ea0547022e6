/// Decodes a body that has `Content-Encoding` (RFC 9110, 8.4.1), from bytes that arrive in several calls.
///
/// A gzip body may have several members. Any other bytes after the data are ignored.
struct BodyDecoder {
    enum Progress: Equatable {
        /// All input is used.
        case needsInput
        /// The caller must take `output` before it continues.
        case isFull
        case damaged
    }

    private enum Stage {
        /// The index of the next of the ten bytes of the gzip header, and its flags as far as they were read.
        case header(Int, flags: Int)
        case extraLength(flags: Int)
        case extra(Int, flags: Int)
        /// A text that ends with 0: the name or the comment.
        case text(isName: Bool, flags: Int)
        case headerCheck
        /// Two bytes, or none when a server sends only the compressed data.
        case zlibHeader
        case data
        case checksum
        case length(UInt32)
        /// The first or the second byte of a further member.
        case nextMember(Int)
        case ended
    }

    let coding: ContentCoding
    private var inflate = Inflate()
    private var stage: Stage
    private var crc = CRC32()
    private var adler = Adler32()
    /// The number of decoded bytes of the member.
    private var madeCount: UInt32 = 0
    /// Whether the data has no header and no checksum.
    private var isBare = false
    /// The first byte of the input, until the second one determines the format.
    private var first: UInt8?

    init(_ coding: ContentCoding) {
        self.coding = coding
        stage = coding == .gzip ? .header(0, flags: 0) : .zlibHeader
    }

    /// Whether the data has ended with a correct checksum. An empty body is complete, too.
    var isComplete: Bool {
        switch stage {
        case .ended, .nextMember, .header(0, _): true
        case .zlibHeader: first == nil
        default: false
        }
    }

    /// Takes the decoded bytes.
    mutating func takeOutput() -> [UInt8] {
        defer { inflate.output = [] }
        return inflate.output
    }

    /// Decodes until the input is used, or there is output to take. Must not be called again after `damaged`.
    /// - Parameter position: the position of the next byte of the input.
    mutating func run(_ input: UnsafeRawBufferPointer, at position: inout Int) -> Progress {
        while true {
            if case .ended = stage {
                position = input.count
                return .needsInput
            }
            if case .data = stage {
                if let progress = runData(input, at: &position) { return progress }
            } else if case .zlibHeader = stage {
                guard let isKnown = readZlibHeader(input, at: &position) else { return .needsInput }
                if !isKnown { return .damaged }
            } else {
                let width = width
                guard let value = inflate.take(width, from: input, at: &position) else { return .needsInput }
                guard advance(with: value) else { return .damaged }
            }
        }
    }

    // MARK: Data

    private mutating func runData(_ input: UnsafeRawBufferPointer, at position: inout Int) -> Progress? {
        let before = inflate.output.count
        let progress = inflate.run(input, at: &position)
        let made = inflate.output[before...]
        madeCount &+= UInt32(truncatingIfNeeded: made.count)
        if coding == .gzip { crc.append(made) } else { adler.append(made) }
        switch progress {
        case .needsInput: return inflate.output.isEmpty ? .needsInput : .isFull
        case .isFull: return .isFull
        case .damaged: return .damaged
        case .ended:
            inflate.alignToByte()
            stage = isBare ? .ended : .checksum
            return inflate.output.isEmpty ? nil : .isFull
        }
    }

    /// - Returns: nil when more bytes are needed; false when the body requires a preset dictionary.
    private mutating func readZlibHeader(_ input: UnsafeRawBufferPointer, at position: inout Int) -> Bool? {
        guard position < input.count else { return nil }
        guard let first else {
            self.first = input[position]
            position += 1
            return readZlibHeader(input, at: &position)
        }
        let second = input[position]
        // RFC 1950, 2.2: deflate, with a checksum over both bytes.
        isBare = first & 0x0F != 8 || (Int(first) << 8 | Int(second)) % 31 != 0
        stage = .data
        if isBare {
            withUnsafeBytes(of: first) { inflate.hold($0) }
            return true
        }
        position += 1
        // A preset dictionary is known only to the server.
        return second & 0x20 == 0
    }

    // MARK: Gzip (RFC 1952) and the end of zlib (RFC 1950)

    /// The number of bits that the stage takes.
    private var width: Int {
        switch stage {
        case .header, .text, .extra, .nextMember: 8
        case .extraLength, .headerCheck: 16
        case .checksum, .length: 32
        case .zlibHeader, .data, .ended: 0
        }
    }

    private static let extraFlag = 4
    private static let nameFlag = 8
    private static let commentFlag = 16
    private static let checkFlag = 2

    /// - Returns: false when the body is not gzip, or a checksum is wrong.
    private mutating func advance(with value: Int) -> Bool {
        switch stage {
        case .header(let offset, let flags): return readHeader(offset, flags, value)
        case .extraLength(let flags): stage = value > 0 ? .extra(value, flags: flags) : afterExtra(flags)
        case .extra(let count, let flags): stage = count > 1 ? .extra(count - 1, flags: flags) : afterExtra(flags)
        case .text(let isName, let flags):
            if value == 0 { stage = isName ? afterName(flags) : afterComment(flags) }
        case .headerCheck: begin()
        case .checksum:
            let value = UInt32(truncatingIfNeeded: value)
            if coding == .gzip {
                stage = .length(value)
            } else {
                stage = .ended
                return value.byteSwapped == adler.value
            }
        case .length(let checksum):
            stage = .nextMember(0)
            return checksum == crc.value && UInt32(truncatingIfNeeded: value) == madeCount
        case .nextMember(let offset):
            guard value == (offset == 0 ? 0x1F : 0x8B) else {
                stage = .ended
                return true
            }
            stage = offset == 0 ? .nextMember(1) : .header(2, flags: 0)
        case .zlibHeader, .data, .ended: break
        }
        return true
    }

    private mutating func readHeader(_ offset: Int, _ flags: Int, _ value: Int) -> Bool {
        var flags = flags
        switch offset {
        case 0: guard value == 0x1F else { return false }
        case 1: guard value == 0x8B else { return false }
        // Deflate is the only compression method.
        case 2: guard value == 8 else { return false }
        case 3: flags = value
        case 9:
            stage = flags & Self.extraFlag != 0 ? .extraLength(flags: flags) : afterExtra(flags)
            return true
        default: break
        }
        stage = .header(offset + 1, flags: flags)
        return true
    }

    private mutating func afterExtra(_ flags: Int) -> Stage {
        flags & Self.nameFlag != 0 ? .text(isName: true, flags: flags) : afterName(flags)
    }

    private mutating func afterName(_ flags: Int) -> Stage {
        flags & Self.commentFlag != 0 ? .text(isName: false, flags: flags) : afterComment(flags)
    }

    private mutating func afterComment(_ flags: Int) -> Stage {
        if flags & Self.checkFlag != 0 { return .headerCheck }
        begin()
        return .data
    }

    private mutating func begin() {
        inflate.restart()
        (crc, madeCount, stage) = (CRC32(), 0, .data)
    }
}
