import CCurl

/// One transfer of libcurl. Deinitialisation ends it; it cannot be copied. Thread: network.
struct EasyHandle: ~Copyable {
    let raw: UnsafeMutableRawPointer
    private var headers: UnsafeMutablePointer<curl_slist>?
    /// libcurl's message about an error, as a C string.
    private let words: UnsafeMutablePointer<CChar>
    /// The first option that libcurl refused. A transfer without one of its options must not start.
    private(set) var refusal: CURLcode = CURLE_OK

    /// Returns nil without memory.
    init?() {
        guard let raw = curl_easy_init() else { return nil }
        self.raw = raw
        words = .allocate(capacity: Int(CURL_ERROR_SIZE))
        words.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
        note(tonearm_curl_set_pointer(raw, CURLOPT_ERRORBUFFER, words))
    }

    deinit {
        curl_easy_cleanup(raw)
        curl_slist_free_all(headers)
        words.deallocate()
    }

    mutating func set(_ option: CURLoption, _ number: Int) { note(tonearm_curl_set_number(raw, option, number)) }

    mutating func set(_ option: CURLoption, _ text: String) {
        note(text.withCString { tonearm_curl_set_text(raw, option, $0) })
    }

    /// Sets an option; nil resets it.
    mutating func set(_ option: CURLoption, _ text: String?) {
        if let text { set(option, text) } else { note(tonearm_curl_set_text(raw, option, nil)) }
    }

    /// Sets an option. The bytes must stay at their address as long as this handle lives.
    mutating func setBytes(_ option: CURLoption, _ bytes: UnsafeRawBufferPointer) {
        note(tonearm_curl_set_bytes(raw, option, bytes.baseAddress, bytes.count))
    }

    mutating func setCallbacks(_ callbacks: tonearm_curl_callbacks, context: UnsafeMutableRawPointer) {
        note(tonearm_curl_set_callbacks(raw, callbacks, context))
    }

    /// Makes libcurl pass the head and the body of the answer to callbacks.
    mutating func setCallbacks(
        header: tonearm_curl_bytes?, body: tonearm_curl_bytes?, context: UnsafeMutableRawPointer
    ) {
        note(tonearm_curl_set_answer_callbacks(raw, header, body, context))
    }

    #if hasFeature(Embedded)
        /// Makes libcurl call `callback` with mbedTLS's configuration of each connection, before its handshake.
        mutating func setTLSCallback(_ callback: curl_ssl_ctx_callback, context: UnsafeMutableRawPointer) {
            note(tonearm_curl_set_tls_callback(raw, callback, context))
        }
    #endif

    mutating func setShare(_ share: UnsafeMutableRawPointer) {
        note(tonearm_curl_set_pointer(raw, CURLOPT_SHARE, share))
    }

    /// Sets the body of a POST request.
    mutating func setBody(_ body: [UInt8]) {
        note(tonearm_curl_set_size(raw, CURLOPT_POSTFIELDSIZE_LARGE, curl_off_t(body.count)))
        body.withUnsafeBytes { bytes in
            // An empty array has no address, and libcurl would read the body through a callback instead.
            var none: UInt8 = 0
            withUnsafeMutablePointer(to: &none) { none in
                let address = bytes.baseAddress.map { UnsafeMutableRawPointer(mutating: $0) }
                note(tonearm_curl_set_pointer(raw, CURLOPT_COPYPOSTFIELDS, address ?? UnsafeMutableRawPointer(none)))
            }
        }
    }

    /// Replaces the fields of the request. They must be valid (`HeaderField.isValid`).
    mutating func setHeaders(_ fields: [HeaderField]) {
        var list: UnsafeMutablePointer<curl_slist>?
        // libcurl omits a field that ends in a colon; a semicolon gives it an empty value. With Expect, libcurl would
        // wait a second for servers that ignore it.
        let lines = fields.map { $0.value.isEmpty ? "\($0.name);" : "\($0.name): \($0.value)" }
        for line in ["Expect:"] + lines {
            guard let longer = line.withCString({ curl_slist_append(list, $0) }) else {
                note(CURLE_OUT_OF_MEMORY)
                break
            }
            list = longer
        }
        note(tonearm_curl_set_pointer(raw, CURLOPT_HTTPHEADER, list))
        curl_slist_free_all(headers)
        headers = list
    }

    func number(_ name: CURLINFO) -> Int { tonearm_curl_number(raw, name) }

    /// Returns nil when libcurl does not have the value.
    func text(_ name: CURLINFO) -> String? { tonearm_curl_text(raw, name).map { String(cString: $0) } }

    // MARK: Connections without a request (CURLOPT_CONNECT_ONLY)

    /// The connection's descriptor, which belongs to libcurl; CURL_SOCKET_BAD without a connection.
    var descriptor: Int32 { tonearm_curl_socket(raw) }

    /// Reads bytes that have arrived, without waiting.
    /// - Returns: `CURLE_AGAIN` when there are none; `CURLE_OK` with 0 bytes at the end of the connection.
    func receive(into buffer: UnsafeMutableRawBufferPointer) -> (code: CURLcode, count: Int) {
        var count = 0
        let code = curl_easy_recv(raw, buffer.baseAddress, buffer.count, &count)
        return (code, count)
    }

    /// Sends bytes, or some of them, without waiting.
    /// - Returns: `CURLE_AGAIN` when none can be sent now. The next call must have the same bytes: a TLS library may
    ///   hold them already.
    func send(_ bytes: UnsafeRawBufferPointer) -> (code: CURLcode, count: Int) {
        var count = 0
        let code = curl_easy_send(raw, bytes.baseAddress, bytes.count, &count)
        return (code, count)
    }

    /// Returns libcurl's message for this error, or else its text for the code.
    func message(for code: CURLcode) -> String {
        String(cString: words[0] == 0 ? curl_easy_strerror(code) : UnsafePointer(words))
    }

    private mutating func note(_ code: CURLcode) {
        if refusal == CURLE_OK { refusal = code }
    }
}
