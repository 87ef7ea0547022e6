import CMicroHTTPD
import Platform

/// A request whose head or body is still coming, and later its answer.
private final class Exchange {
    /// The target as it was sent.
    let target: String
    /// The limit of the body in bytes; nil until the head is complete.
    var limit: Int?
    var body: [UInt8] = []
    var isTooLarge = false
    /// The answer; nil until it is known.
    var answer: HTTPAnswer?

    init(target: String) { self.target = target }

    /// Returns the object that a connection holds.
    static func of(_ state: UnsafeMutableRawPointer) -> Exchange {
        Unmanaged<Exchange>.fromOpaque(state).takeUnretainedValue()
    }
}

/// The functions that libmicrohttpd calls.
let handlers = tonearm_http_handlers(
    begun: beginRequest, answer: answerConnection, completed: completeRequest, connection: watchConnection)

/// Called with the first line of a request.
private let beginRequest:
    @convention(c) (UnsafeMutableRawPointer?, UnsafePointer<CChar>?, OpaquePointer?) -> UnsafeMutableRawPointer? = {
        _, target, _ in
        Unmanaged.passRetained(Exchange(target: target.map { String(cString: $0) } ?? "")).toOpaque()
    }

/// Called with the head, for each part of a body, and once more at the end.
private let answerConnection: MHD_AccessHandlerCallback = {
    (context, connection, path, method, version, upload, uploadCount, state) -> MHD_Result in
    guard let context, let connection, let path, let method, let uploadCount, let held = state?.pointee else {
        return .NO
    }
    let server = Unmanaged<HTTPServer.Context>.fromOpaque(context).takeUnretainedValue()
    let exchange = Exchange.of(held)
    guard let limit = exchange.limit else {
        exchange.limit = server.service.bodyLimit(String(cString: path))
        var head = RequestHead(target: exchange.target, version: version.map { String(cString: $0) } ?? "")
        head.fields = fields(of: connection, .HEADER_KIND)
        guard let mistake = head.mistake else { return .YES }
        // The connection ends with it, because the beginning of the next request is not known.
        var answer = server.service.refuse(.malformed(mistake), String(cString: path))
        answer.headers.append(HTTPField("Connection", "close"))
        return send(answer, on: connection)
    }
    if uploadCount.pointee > 0 {
        let part = UnsafeRawBufferPointer(start: upload, count: uploadCount.pointee)
        exchange.isTooLarge = exchange.isTooLarge || exchange.body.count + part.count > limit
        if !exchange.isTooLarge { exchange.body.append(contentsOf: part) }
        uploadCount.pointee = 0
        return .YES
    }
    server.watch.receive(tonearm_http_socket(connection))
    let name = String(cString: method)
    guard servedMethods.contains(where: { $0.utf8.elementsEqual(name.utf8) }) else {
        return send(server.service.refuse(.method, String(cString: path)), on: connection)
    }
    guard !exchange.isTooLarge else {
        return send(server.service.refuse(.tooLarge, String(cString: path)), on: connection)
    }
    let client = HTTPConnection(connection)
    let request = HTTPRequest(
        method: name, path: String(cString: path), query: values(of: connection, .GET_ARGUMENT_KIND),
        headers: values(of: connection, .HEADER_KIND), body: exchange.body,
        isSecure: server.isSecure || client.isOfFront, connection: client)
    let answer = server.service.answer(request)
    exchange.answer = answer
    return send(answer, on: connection)
}

private let servedMethods = [MHD_HTTP_METHOD_GET, MHD_HTTP_METHOD_HEAD, MHD_HTTP_METHOD_POST]

/// Called when the answer that ends HTTP on the connection is sent.
private let upgradeConnection: MHD_UpgradeHandler = { _, _, state, early, earlyCount, descriptor, handle in
    guard let state, let handle else { return }
    let bytes = Array(UnsafeRawBufferPointer(start: early, count: earlyCount))
    let socket = UpgradedSocket(descriptor, handle, early: bytes)
    guard let upgrade = Exchange.of(state).answer?.upgrade else { return socket.close() }
    upgrade(socket)
}

/// Called at the end of a request, also when its client has disconnected.
private let completeRequest: MHD_RequestCompletedCallback = { context, connection, state, _ in
    guard let held = state?.pointee else { return }
    let exchange = Unmanaged<Exchange>.fromOpaque(held).takeRetainedValue()
    state?.pointee = nil
    // No request follows on a connection that speaks another protocol.
    guard let context, let connection, exchange.answer?.upgrade == nil else { return }
    let server = Unmanaged<HTTPServer.Context>.fromOpaque(context).takeUnretainedValue()
    server.watch.answered(tonearm_http_socket(connection))
}

private func values(of connection: OpaquePointer, _ kind: MHD_ValueKind) -> [String: String] {
    var values: [String: String] = [:]
    for (name, value) in fields(of: connection, kind) {
        values[kind == .HEADER_KIND ? name.lowercasedASCII : name] = value
    }
    return values
}

private func fields(of connection: OpaquePointer, _ kind: MHD_ValueKind) -> [(name: String, value: String)] {
    var fields: [(name: String, value: String)] = []
    withUnsafeMutablePointer(to: &fields) { fields in
        let collect: MHD_KeyValueIterator = { context, _, name, value in
            guard let context, let name else { return .YES }
            let fields = context.assumingMemoryBound(to: [(name: String, value: String)].self)
            fields.pointee.append((String(cString: name), value.map { String(cString: $0) } ?? ""))
            return .YES
        }
        _ = MHD_get_connection_values(connection, kind, collect, fields)
    }
    return fields
}

private func send(_ answer: HTTPAnswer, on connection: OpaquePointer) -> MHD_Result {
    let response: OpaquePointer?
    let length = answer.announcedLength ?? answer.body.count
    if answer.upgrade != nil {
        response = MHD_create_response_for_upgrade(upgradeConnection, nil)
    } else if let stream = answer.stream {
        response = streamed(stream)
    } else if length == 0, answer.body.count == 0, answer.pace == nil {
        response = MHD_create_response_from_buffer(0, nil, .RESPMEM_PERSISTENT)
    } else {
        let sending = Unmanaged.passRetained(
            SentBody(answer.body, answer.pace, on: HTTPConnection(connection))
        ).toOpaque()
        response = MHD_create_response_from_callback(
            UInt64(max(0, length)), 65_536,
            { context, offset, buffer, room in
                guard let context, let buffer else { return SentBody.endWithError }
                return Unmanaged<SentBody>.fromOpaque(context).takeUnretainedValue()
                    .read(into: UnsafeMutableRawBufferPointer(start: buffer, count: room), at: Int64(offset))
            }, sending, { context in if let context { Unmanaged<SentBody>.fromOpaque(context).release() } })
        if response == nil { Unmanaged<SentBody>.fromOpaque(sending).release() }
    }
    guard let response else { return .NO }
    defer { MHD_destroy_response(response) }
    for header in answer.headers { MHD_add_response_header(response, header.name, header.value) }
    if answer["Date"] == nil {
        MHD_add_response_header(response, "Date", HTTPDate.text(SystemTime.clockMilliseconds() / 1000))
    }
    return MHD_queue_response(connection, UInt32(answer.status), response)
}

/// Returns the response of a body without a known end: in chunks, or ended by the connection (RFC 9112, 6.3).
private func streamed(_ stream: HTTPStream) -> OpaquePointer? {
    let sending = Unmanaged.passRetained(SentStream(stream)).toOpaque()
    let response: OpaquePointer? = MHD_create_response_from_callback(
        .max, 16_384,
        { context, _, buffer, room in
            guard let context, let buffer else { return SentBody.endWithError }
            let stream = Unmanaged<SentStream>.fromOpaque(context).takeUnretainedValue().stream
            let count = stream.read(UnsafeMutableRawBufferPointer(start: buffer, count: room))
            return count > 0 ? count : SentBody.endOfStream
        }, sending, { context in if let context { Unmanaged<SentStream>.fromOpaque(context).release() } })
    if response == nil { Unmanaged<SentStream>.fromOpaque(sending).release() }
    return response
}
