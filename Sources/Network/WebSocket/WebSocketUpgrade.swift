import Platform

/// The request that turns an HTTP connection into a WebSocket, and the check of its answer (RFC 6455, 4.1). A value
/// without I/O.
struct WebSocketUpgrade {
    enum Progress: Equatable {
        case more
        /// The answer is complete.
        /// - Parameter used: the number of bytes until its end, of those just given. The next ones are frames.
        case accepted(ResponseHead, used: Int)
        case refused(ResponseHead)
        case failed(TransferError)
    }

    /// The largest head of the answer, in bytes.
    static let largestHead = 8192

    /// The request.
    let request: [UInt8]
    private let address: WebAddress
    private let accept: String
    private var reader = HeadReader()
    private var line: [UInt8] = []
    private var size = 0

    /// - Parameter nonce: 16 random bytes.
    init(_ address: WebAddress, headers: [HeaderField], userAgent: String, nonce: [UInt8]) {
        self.address = address
        let key = Base64.text(nonce)
        accept = WebSocketKey.accept(key)
        var text = "GET \(address.target) HTTP/1.1\r\nHost: \(address.authority)\r\nUser-Agent: \(userAgent)\r\n"
        text +=
            "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: \(key)\r\n"
        for header in headers { text += "\(header.name): \(header.value)\r\n" }
        request = Array((text + "\r\n").utf8)
    }

    /// Reads bytes of the answer.
    /// - Parameter now: seconds since 1970.
    mutating func receive(_ bytes: UnsafeRawBufferPointer, now: Int64) -> Progress {
        for (index, byte) in bytes.enumerated() {
            size += 1
            if size > Self.largestHead { return .failed(.headTooLarge) }
            line.append(byte)
            guard byte == UInt8(ascii: "\n") else { continue }
            let before = reader
            let progress = line.withUnsafeBytes { reader.append($0) }
            line.removeAll(keepingCapacity: true)
            switch progress {
            case .more: continue
            // For a transfer the answer 101 would be an interim one.
            case .interim: if before.status == 101 { return accepted(head(before, now), used: index + 1) }
            case .complete: return .refused(head(reader, now))
            case .tooLarge: return .failed(.headTooLarge)
            case .malformed: return .failed(.malformedAnswer)
            }
        }
        return .more
    }

    private func head(_ lines: HeadReader, _ now: Int64) -> ResponseHead {
        ResponseHead(lines, effectiveURL: address.text, isVerifiedTLS: address.isSecure, now: now)
    }

    private func accepted(_ head: ResponseHead, used: Int) -> Progress {
        let connection = head.values(of: "connection").flatMap { $0.utf8.split(separator: UInt8(ascii: ",")) }
        guard head.value(of: "upgrade")?.equalsIgnoringCase("websocket") == true,
            connection.contains(where: { Self.trimmed($0).equalsIgnoringCase("upgrade") }),
            head.value(of: "sec-websocket-accept")?.utf8.elementsEqual(accept.utf8) == true,
            // None was offered.
            head.value(of: "sec-websocket-extensions") == nil, head.value(of: "sec-websocket-protocol") == nil
        else { return .failed(.webSocket(.protocolError)) }
        return .accepted(head, used: used)
    }

    private static func trimmed(_ text: Substring.UTF8View) -> String {
        String(decoding: text.filter { $0 != UInt8(ascii: " ") && $0 != UInt8(ascii: "\t") }, as: UTF8.self)
    }
}

extension WebAddress {
    /// The value of the field Host.
    fileprivate var authority: String {
        port.utf8.elementsEqual((isSecure ? "443" : "80").utf8) ? host : "\(host):\(port)"
    }

    /// The path and the query.
    fileprivate var target: String {
        let rest = text.utf8.dropFirst((isSecure ? "https://" : "http://").utf8.count)
        let target = rest.drop { $0 != UInt8(ascii: "/") }.prefix { $0 != UInt8(ascii: "#") }
        return String(decoding: target, as: UTF8.self)
    }
}
