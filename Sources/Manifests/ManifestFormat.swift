import Media
import Platform

/// The formats of manifests, by their media types.
public enum ManifestFormat: String, Equatable, Sendable {
    /// One file, described in JSON.
    case bts = "application/vnd.tidal.bts"
    /// A playlist, described in JSON.
    case emu = "application/vnd.tidal.emu"
    case dash = "application/dash+xml"
    case hls = "application/vnd.apple.mpegurl"

    /// - Parameter mimeType: in letters of any case; parameters do not count.
    /// - Returns: nil for another type.
    public init?(mimeType: String) {
        let type = mimeType.lowercasedASCII.utf8.prefix { $0 != UInt8(ascii: ";") && !TagText.isBlank($0) }
        for format in [ManifestFormat.bts, .emu, .dash, .hls] where type.elementsEqual(format.rawValue.utf8) {
            self = format
            return
        }
        for other: StaticString in ["application/x-mpegurl", "audio/mpegurl", "audio/x-mpegurl"]
        where other.withUTF8Buffer({ type.elementsEqual($0) }) {
            self = .hls
            return
        }
        return nil
    }
}

extension Manifest {
    /// The largest manifest that is accepted, in bytes.
    public static let mostBytes = 8_388_608

    /// Reads a manifest.
    /// - Parameters:
    ///   - bytes: not more than `mostBytes`.
    ///   - url: where they came from, for relative URLs. A `data:` URL or an empty text when there is no such address.
    ///
    /// Thread: any.
    public init(_ bytes: [UInt8], format: ManifestFormat, url: String) throws(ManifestError) {
        guard bytes.count <= Self.mostBytes else { throw .malformed(what: "a manifest of \(bytes.count) bytes") }
        switch format {
        case .bts: self = try JSONManifest.bts(bytes, base: URLReference(url))
        case .emu: self = try JSONManifest.emu(bytes, base: URLReference(url))
        case .dash: self = try DASHManifest(bytes, url: url).manifest
        case .hls: self = try HLSManifest.read(bytes, base: URLReference(url))
        }
    }
}
