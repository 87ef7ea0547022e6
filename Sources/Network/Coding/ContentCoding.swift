/// How the body of an answer is coded (RFC 9110, 8.4.1). No request asks for it: some servers store files that way.
enum ContentCoding: Equatable {
    case gzip
    /// In the format of zlib, or, as some servers send it, the bare data.
    case deflate

    /// - Returns: nil for a body that is not coded.
    /// - Throws: `.unknown` for another coding, and for several of them.
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

    /// For a message: what a server sends has no limit.
    private static func shown(_ names: [String]) -> String {
        let all = names.dropFirst().reduce(names[0]) { "\($0), \($1)" }
        return String(decoding: all.utf8.prefix(40), as: UTF8.self)
    }
}

/// Why a body that is coded is of no use.
public enum CodingFailure: Error, Equatable, Sendable {
    /// The coding is none that can be decoded.
    case unknown(coding: String)
    /// It is coded as a whole, and a part of it was asked for, or will be.
    case ofPart(coding: String)
    /// It cannot be decoded.
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
