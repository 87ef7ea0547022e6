import CMicroHTTPD
import Glibc
import Platform

/// A server with libmicrohttpd: a thread for each connection, HTTP/1.1 with persistent connections, TLS through GnuTLS.
///
/// Thread: any. `answer` is called on the connections' threads. The end of this object closes all connections.
/// `@unchecked Sendable` is safe because its state never changes.
final class HTTPServer: @unchecked Sendable {
    typealias Answer = @Sendable (HTTPRequest) -> HTTPAnswer

    /// PEM texts.
    struct Identity: Sendable {
        var certificate: String
        var key: String
    }

    struct Refused: Error {}

    /// The most connections, more than a house has players. Each takes a thread.
    private static let mostConnections: UInt32 = 512
    /// The most connections of one address, so that others find a place. A proxy has one address for all clients.
    private static let mostOfClient: UInt32 = 384
    private static let idleSeconds: UInt32 = 60

    private let context: Context
    private let daemon: OpaquePointer

    /// - Parameter identity: nil without TLS.
    /// - Throws: `Refused` when the certificate and its key are not usable, or no thread can be made.
    init(on socket: ListeningSocket, identity: Identity?, _ answer: @escaping Answer) throws(Refused) {
        // A client that disconnects during an answer must not end the process.
        signal(SIGPIPE, SIG_IGN)
        context = Context(isSecure: identity != nil, answer: answer)
        let pointer = Unmanaged.passUnretained(context).toOpaque()
        let started: OpaquePointer? =
            if let identity {
                tonearm_http_start(
                    socket.descriptor, identity.certificate, identity.key, Self.mostConnections, Self.mostOfClient,
                    Self.idleSeconds,
                    answerConnection, completeRequest, pointer)
            } else {
                tonearm_http_start(
                    socket.descriptor, nil, nil, Self.mostConnections, Self.mostOfClient, Self.idleSeconds,
                    answerConnection, completeRequest, pointer)
            }
        guard let started else {
            close(socket.descriptor)
            throw Refused()
        }
        daemon = started
    }

    deinit { MHD_stop_daemon(daemon) }

    fileprivate final class Context: Sendable {
        let isSecure: Bool
        let answer: Answer

        init(isSecure: Bool, answer: @escaping Answer) {
            self.isSecure = isSecure
            self.answer = answer
        }
    }
}

/// A request whose body is still coming.
private final class Incoming {
    /// The limit of a body in bytes. A form of the login is smaller than the first; a batch of ten events of 20 KiB
    /// each, with escapes, fits into the second.
    private static let mostBytes = 16_384
    private static let mostBytesOfEvents = 1 << 20

    let limit: Int
    var body: [UInt8] = []
    var isTooLarge = false

    init(path: String) { limit = path == EventRoutes.path ? Self.mostBytesOfEvents : Self.mostBytes }

    /// Returns the object that a connection holds.
    static func of(_ state: UnsafeMutableRawPointer) -> Incoming {
        Unmanaged<Incoming>.fromOpaque(state).takeUnretainedValue()
    }
}

/// Called with the head, for each part of a body, and once more at the end.
private let answerConnection: MHD_AccessHandlerCallback = {
    (context, connection, path, method, _, upload, uploadCount, state) -> MHD_Result in
    guard let context, let connection, let path, let method, let state, let uploadCount else { return .NO }
    guard let held = state.pointee else {
        state.pointee = Unmanaged.passRetained(Incoming(path: String(cString: path))).toOpaque()
        return .YES
    }
    let incoming = Incoming.of(held)
    if uploadCount.pointee > 0 {
        let part = UnsafeRawBufferPointer(start: upload, count: uploadCount.pointee)
        incoming.isTooLarge = incoming.isTooLarge || incoming.body.count + part.count > incoming.limit
        if !incoming.isTooLarge { incoming.body.append(contentsOf: part) }
        uploadCount.pointee = 0
        return .YES
    }
    let server = Unmanaged<HTTPServer.Context>.fromOpaque(context).takeUnretainedValue()
    let name = String(cString: method)
    guard [MHD_HTTP_METHOD_GET, MHD_HTTP_METHOD_HEAD, MHD_HTTP_METHOD_POST].contains(name) else {
        return send(.wrongMethod("GET, HEAD and POST"), on: connection)
    }
    guard !incoming.isTooLarge else {
        return send(.refusal(413, SubStatus.tooLarge, "The request is too large."), on: connection)
    }
    let request = HTTPRequest(
        method: name, path: String(cString: path), query: values(of: connection, .GET_ARGUMENT_KIND),
        headers: values(of: connection, .HEADER_KIND), body: incoming.body, isSecure: server.isSecure)
    return send(server.answer(request), on: connection)
}

/// Called at the end of a request, also when its client has disconnected.
private let completeRequest: MHD_RequestCompletedCallback = { _, _, state, _ in
    guard let held = state?.pointee else { return }
    Unmanaged<Incoming>.fromOpaque(held).release()
    state?.pointee = nil
}

private func values(of connection: OpaquePointer, _ kind: MHD_ValueKind) -> [String: String] {
    var values: [String: String] = [:]
    let isHeader = kind == .HEADER_KIND
    withUnsafeMutablePointer(to: &values) { values in
        let collect: MHD_KeyValueIterator = { context, _, name, value in
            guard let context, let name else { return .YES }
            let values = context.assumingMemoryBound(to: [String: String].self)
            values.pointee[String(cString: name)] = value.map { String(cString: $0) } ?? ""
            return .YES
        }
        _ = MHD_get_connection_values(connection, kind, collect, values)
    }
    guard isHeader else { return values }
    return Dictionary(values.map { ($0.key.lowercased(), $0.value) }) { _, last in last }
}

private func send(_ answer: HTTPAnswer, on connection: OpaquePointer) -> MHD_Result {
    let response: OpaquePointer?
    if answer.body.count == 0, answer.delivery == HTTPDelivery() {
        response = MHD_create_response_from_buffer(0, nil, .RESPMEM_PERSISTENT)
    } else {
        let sending = Unmanaged.passRetained(
            HTTPSending(answer.body, answer.delivery, socket: tonearm_http_socket(connection))
        ).toOpaque()
        response = MHD_create_response_from_callback(
            UInt64(max(0, answer.body.count + answer.delivery.lengthDifference)), 65_536,
            { context, offset, buffer, room in
                guard let context, let buffer else { return HTTPSending.endWithError }
                return Unmanaged<HTTPSending>.fromOpaque(context).takeUnretainedValue()
                    .read(into: UnsafeMutableRawBufferPointer(start: buffer, count: room), at: Int64(offset))
            }, sending, { context in if let context { Unmanaged<HTTPSending>.fromOpaque(context).release() } })
        if response == nil { Unmanaged<HTTPSending>.fromOpaque(sending).release() }
    }
    guard let response else { return .NO }
    defer { MHD_destroy_response(response) }
    if answer["Content-Length"] != nil { tonearm_http_own_length(response) }
    for header in answer.headers { MHD_add_response_header(response, header.name, header.value) }
    if answer["Date"] == nil { MHD_add_response_header(response, "Date", HTTPDate.text(Int64(time(nil)))) }
    return MHD_queue_response(connection, UInt32(answer.status), response)
}
