import Fetching
import Manifests
import Network

extension ResourceReference {
    package var byteRange: ByteRange? { range.map { ByteRange(from: $0.lowerBound, upTo: $0.upperBound) } }
}

extension TransferRequest {
    /// Returns a request for a manifest or content. Its address is signed each time, so the cache identifies it by its
    /// path and its scope.
    package static func content(_ url: String, range: ByteRange? = nil, _ space: ContentSpace? = nil) -> TransferRequest
    {
        var request = TransferRequest(url: url, range: range)
        request.cacheScope = .path
        request.cacheSpace = space?.text
        return request
    }
}
