import Platform

@testable import Network

/// Answers of servers, apart from those that libcurl parses, and messages of the kernel about links.
let networkTargets = [
    FuzzTarget("http-head") { bytes in
        var head = HeadReader()
        var progress = HeadReader.Progress.more
        // Lines with their ends, as libcurl passes them on.
        for line in bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) {
            guard progress == .more || progress == .interim else { break }
            progress = (Array(line) + [UInt8(ascii: "\n")]).withUnsafeBytes { head.append($0) }
        }
        guard progress == .complete, let base = WebAddress("https://music.example/a/b?c") else { return }
        let response = ResponseHead(head, effectiveURL: base.text, isVerifiedTLS: true, now: 1_800_000_000)
        require((200..<600).contains(response.status), "status \(response.status)")
        require(response.contentLength ?? 0 >= 0, "a negative length")
        for header in response.headers { require(!header.value.utf8.contains(10), "a line in a value") }
        var redirection = Redirection(
            TransferRequest(url: base.text, headers: [HeaderField("Authorization", "secret")]), to: base)
        guard (try? redirection.follow(status: response.status, location: response.value(of: "location"))) == true
        else { return }
        require(redirection.address.isSecure, "from https to http")
        require(
            redirection.headers.isEmpty || redirection.address.hasOrigin(of: base), "credentials for another origin")
        // An address that is sent reads the same again.
        require(WebAddress(redirection.address.text) != nil, "not an address: \(redirection.address.text)")
    },
    FuzzTarget("web-socket-answer") { bytes in
        guard let address = WebAddress("https://music.example/a?b") else { return }
        let nonce = Array("the sample nonce".utf8)
        var whole = WebSocketUpgrade(address, headers: [], userAgent: "Fuzzer", nonce: nonce)
        var pieces = whole
        let progress = bytes.withUnsafeBytes { whole.receive($0, now: 0) }
        var last = WebSocketUpgrade.Progress.more
        for (index, byte) in bytes.enumerated() where last == .more {
            last = [byte].withUnsafeBytes { pieces.receive($0, now: 0) }
            if case .accepted(let head, _) = last { last = .accepted(head, used: index + 1) }
        }
        require(progress == last, "pieces differ")
        if case .accepted(_, let used) = progress { require(used <= bytes.count, "more than there is") }
    },
    FuzzTarget("inflate") { bytes in
        // Decoding in steps and at once gives the same. The first byte chooses the coding and the size of a step.
        guard let first = bytes.first else { return }
        let coding = first & 1 == 0 ? ContentCoding.gzip : .deflate
        let whole = decoded(bytes.dropFirst(), coding, piece: .max / 2)
        require(whole == decoded(bytes.dropFirst(), coding, piece: Int(first >> 1) + 1), "pieces differ")
    },
    FuzzTarget("http-date") { bytes in
        let text = String(decoding: bytes, as: UTF8.self)
        guard let seconds = HTTPDate.seconds(of: text, now: 1_800_000_000) else { return }
        require((0...253_402_300_800).contains(seconds), "\(seconds) of \(text)")
    },
    FuzzTarget("routes") { bytes in
        // The two files of the kernel, with a 0 byte between them.
        let texts = bytes.split(separator: 0, maxSplits: 1, omittingEmptySubsequences: false).map { Array($0) }
        let routes = Route.all(version4: texts[0], version6: texts.count > 1 ? texts[1] : [])
        let type = NetworkInterface.value(of: "DEVTYPE=", inEvent: bytes)
        let interfaces = routes.enumerated().map { index, route in
            NetworkInterface(
                index: Int32(index), name: route.interface, isRunning: index % 2 == 0, type: type,
                lower: .interface(Int32(index / 2)))
        }
        _ = Link(routes, LinkCosts(interfaces, LinkSettings(meteredInterfaces: ["wlan0"])))
        _ = NameServers.first(in: bytes)
        _ = NameServers.isKnown("a", in: bytes)
    },
    FuzzTarget("cache-fields") { bytes in
        // Arbitrary fields of an answer, with a 0 byte between them, and their effect on its age.
        let names = ["Cache-Control", "Age", "Date", "Expires", "ETag", "Vary", "Content-Range"]
        let fields = zip(names, pieces(of: bytes)).map { HeaderField($0, $1) }
        var request = TransferRequest(url: "https://music.example/a", range: ByteRange(from: 10, upTo: 20))
        request.cacheScope = .path
        for status in [200, 206] {
            if status == 200 { request.range = nil }
            let head = ResponseHead(status: status, headers: fields, effectiveURL: request.url)
            let body = [UInt8](repeating: 1, count: 16)
            guard
                var response = CachedResponse(
                    storing: head, of: request, body: body, requested: 1_800_000_000, received: 1_800_000_001)
            else { continue }
            response.isComplete = true
            for seconds in [0, 1_800_000_000, 1_800_000_002, 253_402_300_800] as [Int64] {
                let now = CertificateTime(seconds, isProved: true)
                require(Freshness(response).lifetime >= 0, "a negative lifetime")
                if case .pass = CacheDecision(request, stored: response, at: now) {
                    require(false, "an answer that is stored and never used")
                }
            }
        }
    },
    FuzzTarget("cache-row") { bytes in
        let text = String(decoding: bytes, as: UTF8.self)
        let (key, body) = ([UInt8](repeating: 2, count: 32), [UInt8](repeating: 1, count: 16))
        guard let response = CachedResponse(key: key, body: body, details: text, count: 1, isComplete: true)
        else { return }
        _ = Freshness(response).isFresh(at: CertificateTime(253_402_300_800, isProved: true))
        let again = CachedResponse(key: key, body: body, details: response.details, count: 1, isComplete: true)
        require(again == response, "a row that reads otherwise when it is written again")
    },
]

/// - Returns: nil when it is damaged. A decompression bomb is abandoned.
private func decoded(_ bytes: ArraySlice<UInt8>, _ coding: ContentCoding, piece: Int) -> [UInt8]? {
    var decoder = BodyDecoder(coding)
    var plain: [UInt8] = []
    var rest = bytes
    while !rest.isEmpty {
        let input = Array(rest.prefix(piece))
        rest = rest.dropFirst(piece)
        var position = 0
        var progress = BodyDecoder.Progress.isFull
        while progress == .isFull {
            progress = input.withUnsafeBytes { decoder.run($0, at: &position) }
            let made = decoder.takeOutput()
            require(made.count < 33_000, "\(made.count) bytes at once")
            plain += made
            if plain.count > 1 << 20 { return Array(plain[..<(1 << 20)]) }
        }
        if progress == .damaged { return nil }
    }
    return decoder.isComplete ? plain : plain + [0]
}
