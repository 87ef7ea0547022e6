import Network

/// The bytes that are requested of a resource, and how many of them have arrived: the request for the rest, and the
/// version that the rest must have (docs/playback.md, 15.4).
///
///     var bytes = RequestedBytes(TransferRequest(url: "https://a/b"))
///     bytes.begin(head)                    // An answer with the validator "v1" begins,
///     bytes.arrive(30)                     // and is interrupted.
///     bytes.nextRequest(at: nil, …)        // Range: bytes=30-, If-Range: "v1"
///
/// A value: the caller sends the requests and receives the answers.
struct RequestedBytes {
    /// The answer with which the first byte has arrived.
    private struct Beginning {
        /// The version of all bytes from then on.
        var version = ResourceVersion()
        /// The validator of the answer, for the same address; nil without one, and at another address.
        var validator: String?
        /// Whether the bytes are internet radio: after an interruption there is no rest.
        var isRadio = false
    }

    /// The request for everything that is wanted.
    let request: TransferRequest
    /// Whether the whole resource is wanted, so that the server may use a content coding.
    let mayBeCoded: Bool
    /// Whether the rest of an interrupted answer may be requested. False for answers that the service makes for each
    /// request: the end of one does not fit the beginning of another.
    private let continues: Bool
    /// Whether earlier bytes are stored and this is their rest.
    private let isContinuation: Bool
    /// The version of bytes that arrived in other transfers.
    private let earlier: ResourceVersion
    /// The number of bytes that have arrived.
    private(set) var arrived: Int64 = 0
    private var beginning = Beginning()
    /// Whether the whole resource is requested because the server does not send the part.
    private(set) var isWholeRequested = false
    /// Whether attempts have used different addresses: validators of two hosts are not compared.
    private var isOfSeveralHosts = false

    /// - Parameters:
    ///   - offset: the offset of the first wanted byte, relative to the request's range.
    ///   - version: the wanted version; another one is `.changed`.
    ///   - isContinuation: whether the bytes before `offset` are stored. The request is conditional then, and the whole
    ///     resource instead of the rest is another version.
    init(
        _ request: TransferRequest, from offset: Int64 = 0, of version: ResourceVersion = ResourceVersion(),
        isContinuation: Bool = false, continues: Bool = true
    ) {
        mayBeCoded = request.range == nil && !request.isReadInParts
        self.request = request.rest(from: offset, ifSame: isContinuation ? version.condition : nil)
        earlier = version
        (self.isContinuation, self.continues) = (isContinuation, continues)
    }

    /// Whether no byte is wanted, so that no request is necessary.
    var isEmpty: Bool { request.range.map { $0.upTo == $0.from } ?? false }

    /// The offset in the resource of the next byte.
    var start: Int64 { (request.range?.from ?? 0) + arrived }

    /// The number of bytes of the range that have not arrived; `.max` for a range without an end.
    var missing: Int64 {
        guard let range = request.range, let end = range.upTo else { return .max }
        return end - range.from - arrived
    }

    /// Whether the rest can be requested after an interruption.
    var hasRest: Bool { !beginning.isRadio || arrived == 0 }

    /// Whether the server may have only the whole resource, because it codes the body.
    var mayNeedWhole: Bool { mayBeCoded && !isWholeRequested }

    /// The version of the bytes that have arrived, in this transfer or before.
    private var knownVersion: ResourceVersion { arrived > 0 ? beginning.version : earlier }

    // MARK: Requests

    /// Returns the request of the next attempt.
    /// - Parameters:
    ///   - url: an alternative address; nil for that of the request.
    ///   - firstByteTimeout: the timeout in milliseconds; nil: that of the request.
    mutating func nextRequest(at url: String?, firstByteTimeout: Int?) -> TransferRequest {
        if !continues { (arrived, beginning.validator) = (0, nil) }
        var next = request
        if arrived > 0 {
            next = next.rest(from: arrived, ifSame: beginning.validator)
            next.longestPart = nil
        }
        if isWholeRequested {
            next.range = nil
            next.isReadInParts = !mayBeCoded
            next.headers.removeAll { $0.isNamed("If-Range") }
        }
        if let url { next.url = url }
        if let firstByteTimeout { next.firstByteTimeout = firstByteTimeout }
        return next
    }

    /// Requests the whole resource from now on.
    mutating func requestWhole() { isWholeRequested = true }

    /// Notes that the next attempt uses another address than the last one.
    mutating func changeAddress() { beginning.validator = nil }

    /// Notes that the known properties of the resource may come from another address.
    mutating func mixHosts() { isOfSeveralHosts = true }

    // MARK: Answers

    /// Notes that the first byte will arrive with this answer.
    mutating func begin(_ head: ResponseHead) {
        beginning = Beginning(
            version: earlier.completed(by: ResourceVersion(head)), validator: head.strongValidator,
            isRadio: head.isOfStation)
    }

    /// Notes that `count` more bytes have arrived.
    mutating func arrive(_ count: Int) { arrived += Int64(count) }

    /// Returns whether the whole resource in an answer belongs to the version of the bytes that have arrived.
    func isSameWhole(_ head: ResponseHead) -> Bool {
        // Not every server evaluates If-Range, but only a changed resource is sent as a whole because of it.
        !(isContinuation && arrived == 0) && isSame(head)
    }

    /// Returns whether an answer belongs to the version of the bytes that have arrived.
    func isSame(_ head: ResponseHead) -> Bool {
        if isOfSeveralHosts { return knownVersion.hasLength(of: head) }
        guard knownVersion.mayInclude(head) else { return false }
        guard arrived > 0, let validator = beginning.validator else { return true }
        return head.strongValidator.map { $0.utf8.elementsEqual(validator.utf8) } ?? false
    }

    /// Returns whether the whole resource may be of the version of the bytes that have arrived.
    func mayRequestWhole(after head: ResponseHead) -> Bool { !isWholeRequested && knownVersion.mayInclude(head) }

    /// Whether no answer has shown the length of the resource.
    var isLengthUnknown: Bool { earlier.length == nil && beginning.version.length == nil }

    /// Whether the next byte lies inside the wanted version.
    var startsInside: Bool { earlier.length.map { start < $0 } ?? false }
}
