/// An element of EBML: an ID, a size and its content (RFC 8794, 4).
struct EBMLElement {
    /// The ID, with the bits that give its length.
    let id: UInt32
    /// The offset of its content.
    let content: Int64
    /// The size; nil when it is not known. Then the content ends at the first element that cannot be inside.
    let size: Int64?

    var end: Int64? { size.map { content + $0 } }
}

/// Reads elements from a source.
struct EBMLReader {
    let source: any ByteSource

    /// An ID of 4 bytes and a size of 8.
    private static let longestHeader = 12

    /// The element at an offset; nil for bytes that are none, and at the end of the source.
    func element(at offset: Int64) throws(Interruption) -> EBMLElement? {
        var head = ByteReader(try SourceReader(source).bytes(Self.longestHeader, at: offset))
        guard let id = head.elementNumber(keepsMarker: true), let id = UInt32(exactly: id) else { return nil }
        let idSize = head.position
        guard let size = head.elementNumber() else { return nil }
        let content = offset + Int64(head.position)
        // A size of ones only is not known.
        let isUnknown = size == 1 << UInt64(7 * (head.position - idSize)) - 1
        guard isUnknown || size <= UInt64(AudioLimits.largestData) else { return nil }
        return EBMLElement(id: id, content: content, size: isUnknown ? nil : Int64(size))
    }

    /// The first bytes of an element's content, up to `limit`.
    func bytes(_ element: EBMLElement, limit: Int = 4096) throws(Interruption) -> [UInt8] {
        try SourceReader(source).bytes(Int(min(element.size ?? 0, Int64(limit))), at: element.content)
    }

    /// 0 for an element without content.
    func unsigned(_ element: EBMLElement) throws(Interruption) -> UInt64 {
        try bytes(element, limit: 8).reduce(0) { $0 << 8 | UInt64($1) }
    }

    func signed(_ element: EBMLElement) throws(Interruption) -> Int64 {
        let bytes = try bytes(element, limit: 8)
        let start: Int64 = bytes.first ?? 0 > 0x7F ? -1 : 0
        return bytes.reduce(start) { $0 << 8 | Int64($1) }
    }

    /// IEEE 754 of 4 or 8 bytes; 0 for others.
    func float(_ element: EBMLElement) throws(Interruption) -> Double {
        switch element.size {
        case 4: Double(Float(bitPattern: UInt32(truncatingIfNeeded: try unsigned(element))))
        case 8: Double(bitPattern: try unsigned(element))
        default: 0
        }
    }

    func text(_ element: EBMLElement) throws(Interruption) -> String? { TagText.utf8(try bytes(element)) }

    /// The elements inside of another one, in order.
    func children(of element: EBMLElement) -> EBMLChildren {
        EBMLChildren(reader: self, offset: element.content, end: element.end ?? .max)
    }
}

/// Elements one after the other.
struct EBMLChildren {
    let reader: EBMLReader
    private(set) var offset: Int64
    let end: Int64

    init(reader: EBMLReader, offset: Int64, end: Int64) {
        self.reader = reader
        self.offset = offset
        self.end = end
    }

    /// - Returns: nil at the end, at an element without a size, and at one that is longer than the one around it.
    mutating func next() throws(Interruption) -> EBMLElement? {
        guard offset < end, let element = try reader.element(at: offset), let next = element.end, next <= end else {
            return nil
        }
        offset = next
        return element
    }
}

extension ByteReader {
    /// A number of variable length: zero bits before the first one give the number of further bytes (RFC 8794, 4).
    mutating func elementNumber(keepsMarker: Bool = false) -> UInt64? {
        guard position < bytes.count, bytes[position] != 0 else { return nil }
        let length = bytes[position].leadingZeroBitCount + 1
        guard let field = bytes(length) else { return nil }
        let value = field.reduce(0 as UInt64) { $0 << 8 | UInt64($1) }
        return keepsMarker ? value : value & ~(1 << UInt64(7 * length))
    }
}
