import Network

/// The meaning of an answer's head for its body (RFC 9110, 15.3 to 15.6).
enum AnswerMeaning: Equatable {
    /// Bytes of the resource, after `skip` bytes that have arrived already.
    case content(skip: Int64)
    /// Not the resource: an error with its reason in the body, or an answer that does not fit the request.
    case refusal
    /// The resource has no bytes in the range.
    case empty
    /// The resource is another one than before.
    case changed
    /// The answer is not the requested part: the whole resource is requested instead.
    case otherPart
}

extension RequestedBytes {
    func meaning(of head: ResponseHead) -> AnswerMeaning {
        switch head.status {
        case 206:
            guard head.rangeStart != start || isWholeRequested else {
                return isSame(head) ? .content(skip: 0) : change(head)
            }
            // The part begins earlier, or does not say where it begins (RFC 9110, 15.3.7).
            let isBefore = head.rangeStart.map { $0 < start } ?? true
            if isBefore, mayRequestWhole(after: head) { return .otherPart }
            return isSame(head) ? .refusal : change(head)
        // The server ignores ranges, or has another resource now.
        case 200, 203: return isSameWhole(head) ? .content(skip: start) : change(head)
        // For a coded body the server counts the coded bytes, and does not send the number of decoded ones.
        case 416 where mayNeedWhole && start > 0 && isLengthUnknown: return .otherPart
        // A refused range inside the wanted version shows that the file has changed.
        case 416 where arrived == 0 && startsInside: return .changed
        // After the last byte there is nothing. A range with an end should have bytes, because a manifest or an index
        // named it.
        case 416 where arrived == 0 && start > 0 && request.range?.upTo == nil: return .empty
        // A POST has made a resource, such as a license.
        case 201 where request.isPost && arrived == 0: return .content(skip: 0)
        // No other status delivers the resource, not even another success.
        default: return .refusal
        }
    }

    /// Returns the meaning of an answer that does not belong to the version of the bytes that have arrived. A message
    /// in its place shows nothing about the resource.
    private func change(_ head: ResponseHead) -> AnswerMeaning {
        WebPage.isMessageAnnounced(by: head) ? .refusal : .changed
    }
}

/// The body of an answer with content: its bytes that are wanted, and those that it announced and has not sent.
///
/// A value: the caller counts the bytes.
struct ContentAnswer {
    let status: Int
    /// Bytes at the beginning that have arrived already.
    private var skip: Int64
    /// Bytes that a 206 has announced with its range and not sent yet.
    private var owed: Int64
    /// Whether the answer announces less than the requested range (RFC 9110, 15.3.7).
    let isShort: Bool
    /// Whether the answer is longer than the requested range, or has an unknown length. A server may ignore the range,
    /// or only its end (RFC 9110, 14.2).
    let isLong: Bool
    /// The head of an answer that begins with the first byte of the resource, until that byte arrives.
    private var uninspected: ResponseHead?
    private let isMedia: Bool

    /// - Parameters:
    ///   - range: the range of all wanted bytes, also when the whole resource is requested.
    ///   - skip: the number of bytes before the wanted ones.
    ///   - isMedia: whether neither the resource nor the range begins with text.
    init(_ head: ResponseHead, skip: Int64, of range: ByteRange?, isMedia: Bool = false) {
        (status, self.skip, self.isMedia) = (head.status, skip, isMedia)
        let part = head.contentRange
        owed = part.map { $0.range.upperBound - $0.range.lowerBound } ?? 0
        isShort =
            part.map { min(range?.upTo ?? .max, $0.length ?? $0.range.upperBound) > $0.range.upperBound } ?? false
        isLong = range?.upTo.map { $0 < part?.range.upperBound ?? head.resourceLength ?? .max } ?? false
        let first = part?.range.lowerBound ?? 0
        uninspected = first == 0 || isMedia && first == range?.from ? head : nil
    }

    /// Whether the answer ends before its announced end.
    var isCut: Bool { owed > 0 }

    /// Returns whether the first bytes of the resource are those of a web page, or another message in place of media.
    /// Later bytes are not inspected.
    mutating func isPage(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard let head = uninspected else { return false }
        uninspected = nil
        return WebPage.isMeant(by: head, bytes) || isMedia && WebPage.isText(bytes)
    }

    /// Returns the part of the next `count` bytes that is wanted. Without one, the bytes are passed over.
    /// - Parameter missing: the number of wanted bytes that have not arrived.
    mutating func wanted(of count: Int, missing: Int64) -> Range<Int> {
        let skipped = Int(min(skip, Int64(count)))
        let wanted = skipped..<(skipped + min(count - skipped, Int(clamping: missing)))
        if wanted.isEmpty { skip -= Int64(skipped) }
        return wanted
    }

    /// Notes that the receiver has taken the wanted part of the next `count` bytes.
    mutating func arrive(_ count: Int) {
        skip = 0
        owed -= Int64(count)
    }
}
