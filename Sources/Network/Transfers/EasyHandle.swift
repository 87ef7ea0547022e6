import CCurl

/// One transfer of libcurl. Closing is its end; it cannot be copied. Thread: network.
struct EasyHandle: ~Copyable {
    let raw: UnsafeMutableRawPointer
    private var headers: UnsafeMutablePointer<curl_slist>?
    /// What went wrong, in words, with a 0 after them.
    private let words: UnsafeMutablePointer<CChar>
    /// The first option that libcurl refused. A transfer without one of its options must not start.
    private(set) var refusal: CURLcode = CURLE_OK

    /// nil: no memory.
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

    /// nil: as if it had never been set.
    mutating func set(_ option: CURLoption, _ text: String?) {
        if let text { set(option, text) } else { note(tonearm_curl_set_text(raw, option, nil)) }
    }

    /// The bytes must stay where they are as long as this handle lives.
    mutating func setBytes(_ option: CURLoption, _ bytes: UnsafeRawBufferPointer) {
        note(tonearm_curl_set_bytes(raw, option, bytes.baseAddress, bytes.count))
    }

    mutating func setCallbacks(_ callbacks: tonearm_curl_callbacks, context: UnsafeMutableRawPointer) {
        note(tonearm_curl_set_callbacks(raw, callbacks, context))
    }

    #if hasFeature(Embedded)
        /// `callback` gets mbedTLS's configuration of each connection before its handshake.
        mutating func setTLSCallback(_ callback: curl_ssl_ctx_callback, context: UnsafeMutableRawPointer) {
            note(tonearm_curl_set_tls_callback(raw, callback, context))
        }
    #endif

    mutating func setShare(_ share: UnsafeMutableRawPointer) {
        note(tonearm_curl_set_pointer(raw, CURLOPT_SHARE, share))
    }

    /// The body of a POST request.
    mutating func setBody(_ body: [UInt8]) {
        note(tonearm_curl_set_size(raw, CURLOPT_POSTFIELDSIZE_LARGE, curl_off_t(body.count)))
        body.withUnsafeBytes { bytes in
            // An empty array has no address, which would mean a body that is read by a callback.
            var none: UInt8 = 0
            withUnsafeMutablePointer(to: &none) { none in
                let address = bytes.baseAddress.map { UnsafeMutableRawPointer(mutating: $0) }
                note(tonearm_curl_set_pointer(raw, CURLOPT_COPYPOSTFIELDS, address ?? UnsafeMutableRawPointer(none)))
            }
        }
    }

    /// Replaces the fields of the request. They are valid (`HeaderField.isValid`).
    mutating func setHeaders(_ fields: [HeaderField]) {
        var list: UnsafeMutablePointer<curl_slist>?
        // A field that ends in a colon is one that libcurl leaves out; a semicolon means an empty value. With Expect,
        // libcurl would wait a second for servers that ignore it.
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

    /// nil when libcurl does not know.
    func text(_ name: CURLINFO) -> String? { tonearm_curl_text(raw, name).map { String(cString: $0) } }

    /// What went wrong: libcurl's words for this case, or those for the code.
    func message(for code: CURLcode) -> String {
        String(cString: words[0] == 0 ? curl_easy_strerror(code) : UnsafePointer(words))
    }

    private mutating func note(_ code: CURLcode) {
        if refusal == CURLE_OK { refusal = code }
    }
}
