/// The coding of an answer's body (RFC 9110, 8.4.1). No request asks for one, but some servers store files that way.
enum ContentCoding: Equatable {
    case gzip
    /// The zlib format, or only the compressed data, as some servers send it.
    case deflate

    /// - Returns: nil for a body without a coding.
    /// - Throws: `.unknown` for another coding, and for several codings.
    init?(of head: ResponseHead) throws(CodingFailure) {
        var names: [String] = []
        for value in head.values(of: "content-encoding") {
            for part in value.utf8.split(separator: UInt8(ascii: ",")) {
                let name = part.filter { $0 != UInt8(ascii: " ") && $0 != UInt8(ascii: "\t") }
                let text = String(decoding: name, as: UTF8.self)
                if !text.utf8.isEmpty, !text.equalsIgnoringCase("identity") { names.append(text) }
            }
        }
        guard let name = names.first else { return nil }
        if names.count == 1, name.equalsIgnoringCase("gzip") || name.equalsIgnoringCase("x-gzip") {
            self = .gzip
        } else if names.count == 1, name.equalsIgnoringCase("deflate") || name.equalsIgnoringCase("zlib") {
            self = .deflate
        } else {
            throw .unknown(coding: Self.shown(names))
        }
    }

    var name: String {
        switch self {
        case .gzip: "gzip"
        case .deflate: "deflate"
        }
    }

    /// Returns the names for a message, shortened because a server may send any length.
    private static func shown(_ names: [String]) -> String {
        let all = names.dropFirst().reduce(names[0]) { "\($0), \($1)" }
        return String(decoding: all.utf8.prefix(40), as: UTF8.self)
    }
}

/// Why a coded body is useless.
public enum CodingFailure: Error, Equatable, Sendable {
    /// The coding is not supported.
    case unknown(coding: String)
    /// The body is coded as a whole, but parts of it were requested or will be.
    case ofPart(coding: String)
    /// The body cannot be decoded.
    case damaged(coding: String)
}

extension CodingFailure: CustomStringConvertible {
    public var description: String {
        switch self {
        case .unknown(let coding):
            "the server sends the answer coded (Content-Encoding: \(coding)), which was not asked for and cannot be "
                + "decoded"
        case .ofPart(let coding):
            "the server sends content coded (Content-Encoding: \(coding)) of which parts are needed. It has to send "
                + "it as it is"
        case .damaged(let coding):
            "the answer cannot be decoded: it is not \(coding), as its Content-Encoding says, or it is damaged"
        }
    }
}
