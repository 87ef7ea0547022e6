import CCurl

/// A transfer in progress. Translates libcurl's callbacks into calls of its sink. Thread: network.
final class RunningTransfer {
    /// How one request of the transfer ended.
    enum Outcome {
        case ended(TransferError?)
        /// A redirect: the same transfer continues with its next request.
        case redirected
    }

    let transfer: Transfer
    let sink: any TransferSink
    let connection: ServerConnection
    private let request: TransferRequest
    private let settings: NetworkSettings
    private var redirection: Redirection
    private var stage = AnswerStage.head
    private var head = HeadReader()
    private var body: AnswerBody
    private(set) var isPaused = false

    /// How many bytes are read from a connection at once. All transfers share one buffer of this size; a larger one
    /// saves system calls on a fast link.
    private static let receiveSize = 65_536
    /// How much of a redirect's body is read to reuse its connection, in bytes.
    private static let redirectBodyLimit = 65_536

    init(
        _ request: TransferRequest, to address: WebAddress, _ transfer: Transfer, into sink: any TransferSink,
        connection: ServerConnection, settings: NetworkSettings
    ) {
        self.request = request
        self.transfer = transfer
        self.sink = sink
        self.connection = connection
        self.settings = settings
        redirection = Redirection(request, to: address)
        body = AnswerBody(limit: request.maximumBody)
    }

    // MARK: Requests

    /// Sets the options that all requests of the transfer share.
    func configure() {
        connection.configure()
        // A silent server is asked for a sign of life, so that its connection ends when none comes
        // (`tonearm_limit_unanswered`).
        connection.handle.set(CURLOPT_TCP_KEEPIDLE, max(1, settings.firstByteTimeout / 2000))
        connection.handle.set(CURLOPT_TCP_KEEPINTVL, max(1, settings.firstByteTimeout / 4000))
        connection.handle.set(CURLOPT_BUFFERSIZE, Self.receiveSize)
        let context = Unmanaged.passUnretained(self).toOpaque()
        connection.handle.setCallbacks(header: Self.readHead, body: Self.readBody, context: context)
    }

    /// Prepares the request to the current address, which is the first one or that of a redirect.
    func prepareRequest() {
        (head, stage, body) = (HeadReader(), .head, AnswerBody(limit: request.maximumBody))
        connection.prepare(for: redirection.address)
        var headers = redirection.headers
        if let range = request.range?.limited(to: request.longestPart).fieldValue {
            headers.append(HeaderField("Range", range))
        }
        connection.handle.set(CURLOPT_HTTPGET, 1)
        switch redirection.method {
        case .get: break
        case .head: connection.handle.set(CURLOPT_NOBODY, 1)
        case .post(let body, let contentType):
            connection.handle.set(CURLOPT_POST, 1)
            connection.handle.setBody(body)
            headers.append(HeaderField("Content-Type", contentType))
        }
        connection.handle.setHeaders(headers)
    }

    /// Returns how the request has ended, from libcurl's code.
    func outcome(of code: CURLcode) -> Outcome {
        if let failure = connection.failure { return .ended(failure) }
        // Errors in the body of a redirect do not matter.
        if stage == .redirect { return .redirected }
        if code == CURLE_OK {
            if let coded = body.coded, !coded.isComplete { return .ended(.truncated) }
            return .ended(stage == .body ? nil : .malformedAnswer)
        }
        return .ended(connection.error(code, isSecure: redirection.address.isSecure))
    }

    /// Continues after a pause of the sink.
    func resume() {
        isPaused = false
        connection.resume()
    }

    var mayUseMeteredLink: Bool { request.mayUseMeteredLink }

    private func fail(_ error: TransferError) -> Bool { connection.fail(error) }

    // MARK: Callbacks of libcurl

    private static let readHead: tonearm_curl_bytes = { bytes, _, count, context in
        let line = UnsafeRawBufferPointer(start: bytes, count: count)
        return RunningTransfer.from(context).readHead(line) ? count : 0
    }

    private static let readBody: tonearm_curl_bytes = { bytes, _, count, context in
        RunningTransfer.from(context).readBody(UnsafeRawBufferPointer(start: bytes, count: count))
    }

    /// Returns the transfer of a callback's context; it lives as long as its handle.
    static func from(_ context: UnsafeMutableRawPointer?) -> RunningTransfer {
        Unmanaged<RunningTransfer>.fromOpaque(context!).takeUnretainedValue()
    }

    /// - Returns: whether the transfer continues.
    private func readHead(_ line: UnsafeRawBufferPointer) -> Bool {
        guard !transfer.isCancelled else { return fail(.cancelled) }
        connection.progress()
        // A chunked body may be followed by trailer fields, which are ignored.
        guard stage == .head else { return true }
        switch head.append(line) {
        case .more, .interim: return true
        case .tooLarge: return fail(.headTooLarge)
        case .malformed: return fail(.malformedAnswer)
        case .complete: return begin()
        }
    }

    private func begin() -> Bool {
        var response = ResponseHead(
            head, effectiveURL: redirection.address.text, isVerifiedTLS: redirection.address.isSecure,
            now: settings.clock.now().seconds)
        response.firstByteDelay = connection.firstByteDelay
        if let refusal = connection.judge(response) { return fail(refusal) }
        do throws(RedirectFailure) {
            if try redirection.follow(status: response.status, location: response.value(of: "location")) {
                stage = .redirect
                return true
            }
        } catch {
            return fail(.redirect(error))
        }
        if let limit = request.maximumBody, redirection.method != .head, response.contentLength ?? 0 > limit {
            return fail(.tooLarge)
        }
        do throws(CodingFailure) { body.coded = try coding(of: response).map { CodedBody($0) } } catch {
            return fail(.coding(error))
        }
        stage = .body
        sink.began(body.coded == nil ? response : response.decoded)
        return true
    }

    /// Returns the coding of the body that the sink gets; nil without a coding or a body.
    private func coding(of response: ResponseHead) throws(CodingFailure) -> ContentCoding? {
        if redirection.method == .head || response.status == 204 || response.status == 304 { return nil }
        // The body of an error is decoded if possible, for its reason.
        if response.status >= 400 { return try? ContentCoding(of: response) }
        guard let coding = try ContentCoding(of: response) else { return nil }
        guard request.range == nil, !request.isReadInParts, response.status != 206 else {
            throw .ofPart(coding: coding.name)
        }
        return coding
    }

    /// - Returns: the result of CURLOPT_WRITEFUNCTION: how many bytes were taken; fewer end the transfer.
    private func readBody(_ bytes: UnsafeRawBufferPointer) -> Int {
        guard !transfer.isCancelled else { return fail(.cancelled) ? bytes.count : 0 }
        connection.progress()
        if stage == .redirect {
            body.count += Int64(bytes.count)
            return body.count <= Self.redirectBodyLimit ? bytes.count : 0
        }
        return body.coded == nil ? deliver(bytes) : decode(bytes)
    }

    /// Decodes and delivers bytes; returns the same as `readBody`.
    private func decode(_ piece: UnsafeRawBufferPointer) -> Int {
        while let step = body.coded?.next(of: piece) {
            switch step {
            case .output(let bytes):
                let answer = bytes.withUnsafeBytes { deliver($0) }
                guard answer == bytes.count else { return answer }
                body.coded?.take()
            case .used:
                if !body.countCoded(piece.count) { return fail(.tooLarge) ? piece.count : 0 }
                return piece.count
            case .damaged: return fail(.coding(.damaged(coding: body.coded?.coding.name ?? ""))) ? piece.count : 0
            }
        }
        return piece.count
    }

    /// Delivers decoded bytes; returns the same as `readBody`.
    private func deliver(_ bytes: UnsafeRawBufferPointer) -> Int {
        guard let total = body.count(with: bytes.count) else { return fail(.tooLarge) ? bytes.count : 0 }
        switch sink.received(bytes) {
        case .more:
            body.count = total
            return bytes.count
        case .enough:
            isPaused = true
            connection.pause()
            return Int(CURL_WRITEFUNC_PAUSE)
        }
    }
}

/// How far the answer to one request has come.
private enum AnswerStage {
    case head
    /// The body of a redirect, which is dropped.
    case redirect
    /// The body of the answer, whose head the sink has.
    case body
}

/// The size of an answer's body, which has a limit, and its coding.
private struct AnswerBody {
    /// nil for a body without a coding.
    var coded: CodedBody?
    /// The decoded bytes that the sink has taken, or the bytes of a redirect's body.
    var count: Int64 = 0
    /// The number of received bytes of a coded body.
    private var codedCount: Int64 = 0
    private let limit: Int64

    /// - Parameter limit: the maximum number of bytes; nil for any number.
    init(limit: Int64?) { self.limit = limit ?? .max }

    /// The number of bytes with `more` of them; nil beyond the limit.
    func count(with more: Int) -> Int64? {
        let (total, overflow) = count.addingReportingOverflow(Int64(more))
        return overflow || total > limit ? nil : total
    }

    /// Counts received bytes of a coded body, which have the limit, too: endless data may decode to nothing.
    /// - Returns: false beyond the limit.
    mutating func countCoded(_ more: Int) -> Bool {
        codedCount += Int64(more)
        return codedCount <= limit
    }
}
