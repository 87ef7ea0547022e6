import Media
import Network

/// What content belongs to: it and the path of its address are the name of content in the cache (docs/service.md,
/// "Manifests"). Addresses are signed each time, so that their queries name nothing; where they also tell resources
/// apart, the place in the manifest does.
struct ContentSpace: Equatable, Sendable {
    private(set) var text: String

    /// Content of a product, as long as its manifest has the same hash. A service need not make its hashes differ
    /// between products, nor send any: then it is the content in one quality.
    init(_ info: PlaybackInfo, of service: ServiceSettings) {
        let kind = info.videoQuality == nil ? "track" : "video"
        let version =
            info.manifestHash ?? (info.audioQuality?.serviceName ?? info.videoQuality?.serviceName ?? "")
            + (info.assetPresentation == .preview ? " preview" : "")
        text = "\(Self.name(of: service.baseURL))\n\(kind)/\(info.productId)\n\(version)"
    }

    /// Host and path: a service that has another port is the same.
    private static func name(of baseURL: String) -> String {
        let path = baseURL.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).dropFirst(3)
        return path.reduce(Network.host(of: baseURL) ?? baseURL) { "\($0)/\(String(decoding: $1, as: UTF8.self))" }
    }

    /// The content of one representation.
    func representation(_ representation: Representation) -> ContentSpace {
        let codecs = representation.codecs.reduce("") { "\($0) \($1)" }
        return adding("\(representation.id) \(representation.bandwidth ?? 0)\(codecs)")
    }

    /// One of the parts, segments or other resources of what this is.
    func part(_ index: Int) -> ContentSpace { adding("\(index)") }

    private func adding(_ name: String) -> ContentSpace {
        var space = self
        space.text += "\n\(name)"
        return space
    }
}
