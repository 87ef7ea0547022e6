import Network

@testable import Player

/// An answer that a server sends instead of a segment.
package enum LiveAnswer: CaseIterable {
    case refused, notFound, gone, rangeRefused, tooMany, failed, unavailable, created
    case reset, refusedConnection, noName, certificate, noHTTP, silent
    case page, text, nothing, cut, cutWithoutLength

    package func send(to transfer: ScriptedNetwork.Ongoing, instead bytes: [UInt8]) {
        switch self {
        case .refused: transfer.answer(403)
        case .notFound: transfer.answer(404, [], Array(#"{"status": 404}"#.utf8))
        case .gone: transfer.answer(410)
        case .rangeRefused: transfer.answer(416)
        case .tooMany: transfer.answer(429, [("Retry-After", "3600")])
        case .failed: transfer.answer(500)
        case .unavailable: transfer.answer(503, [("Retry-After", "100")])
        case .created: transfer.answer(204)
        case .reset: transfer.end(.connection(.lost))
        case .refusedConnection: transfer.end(.connection(.refused))
        case .noName: transfer.end(.nameResolution)
        case .certificate: transfer.end(.tls(.hostName))
        case .noHTTP: transfer.end(.malformedAnswer)
        case .silent: transfer.end(.timeOut(.firstByte))
        case .page: transfer.answer(200, [], Array("<!DOCTYPE html><html><body>Log in</body></html>".utf8))
        case .text: transfer.answer(200, [], Array("upstream connect error or disconnect".utf8))
        case .nothing: transfer.answer(200, [("Content-Length", "0")])
        case .cut:
            guard transfer.request.range == nil else { return transfer.answer(404) }
            transfer.begin(200, [("Content-Length", "\(bytes.count)")])
            transfer.deliver(Array(bytes.prefix(10)))
            transfer.end(.truncated)
        case .cutWithoutLength:
            guard transfer.request.range == nil else { return transfer.answer(404) }
            transfer.begin(200, [])
            transfer.deliver(Array(bytes.prefix(10)))
            transfer.end(.connection(.lost))
        }
    }

    /// The resource, or the range that is wanted.
    package static func serve(_ bytes: [UInt8], to transfer: ScriptedNetwork.Ongoing) {
        guard let range = transfer.request.range else {
            return transfer.answer(200, [("Content-Length", "\(bytes.count)")], bytes)
        }
        let part = bytes[Int(range.from)..<min(bytes.count, Int(range.upTo ?? Int64(bytes.count)))]
        transfer.answer(
            206, [("Content-Range", "bytes \(part.startIndex)-\(part.endIndex - 1)/\(bytes.count)")], Array(part))
    }
}
