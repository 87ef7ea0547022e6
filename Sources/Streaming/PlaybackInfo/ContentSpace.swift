import Account
import Manifests
import Media
import Network
import Playback

/// The scope that content belongs to: with the path of its address, it names the content in the cache (docs/service.md,
/// "Manifests").
///
/// Addresses are signed each time, so their queries name nothing. Where queries also distinguish resources, the
/// position in the manifest does so instead.
package struct ContentSpace: Equatable, Sendable {
    private(set) var text: String

    /// Names the content of a product, as long as its manifest has the same hash. A service may send hashes that are
    /// equal for different products, or none; without one, the quality names the content.
    package init(_ info: PlaybackInfo, of service: ServiceSettings) {
        let kind = info.videoQuality == nil ? "track" : "video"
        let version =
            info.manifestHash ?? (info.audioQuality?.serviceName ?? info.videoQuality?.serviceName ?? "")
            + (info.assetPresentation == .preview ? " preview" : "")
        text = "\(Self.name(of: service.baseURL))\n\(kind)/\(info.productId)\n\(version)"
    }

    /// Returns host and path: a service on another port is the same.
    private static func name(of baseURL: String) -> String {
        let path = baseURL.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).dropFirst(3)
        return path.reduce(Network.host(of: baseURL) ?? baseURL) { "\($0)/\(String(decoding: $1, as: UTF8.self))" }
    }

    /// Returns the scope of one representation.
    package func representation(_ representation: Representation) -> ContentSpace {
        let codecs = representation.codecs.reduce("") { "\($0) \($1)" }
        return adding("\(representation.id) \(representation.bandwidth ?? 0)\(codecs)")
    }

    /// Returns the scope of one part, segment or other resource of this scope.
    package func part(_ index: Int) -> ContentSpace { adding("\(index)") }

    private func adding(_ name: String) -> ContentSpace {
        var space = self
        space.text += "\n\(name)"
        return space
    }
}
