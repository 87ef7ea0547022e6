import Media
import Platform

/// The service's own manifests: a JSON object with the URLs of one piece of content (docs/service.md).
enum JSONManifest {
    private static let mostURLs = 8

    /// One file with one representation. Several URLs are alternatives.
    static func bts(_ bytes: [UInt8], base: URLReference) throws(ManifestError) -> Manifest {
        let object = try parse(bytes, "BTS")
        if let encryption = object["encryptionType"]?.string, !encryption.utf8.elementsEqual("NONE".utf8) {
            throw .unsupported(what: "BTS with encryption “\(encryption)”")
        }
        let urls = try urls(object, "BTS", base)
        var representation = Representation(id: "0", segments: .file(IndexedFile(url: urls[0])))
        if urls.count > 1 { representation.bases = urls }
        representation.mimeType = object["mimeType"]?.string.map { $0.lowercasedASCII }
        representation.codecs = object["codecs"]?.string.map(CodecList.codecs) ?? []
        return manifest(of: representation)
    }

    /// A playlist, which has to be loaded.
    static func emu(_ bytes: [UInt8], base: URLReference) throws(ManifestError) -> Manifest {
        let object = try parse(bytes, "EMU")
        if let type = object["mimeType"]?.string, ManifestFormat(mimeType: type) != .hls {
            throw .unsupported(what: "EMU with “\(type)”")
        }
        let urls = try urls(object, "EMU", base)
        if let data = DataURL(urls[0]) { return try HLSManifest.read(data.bytes, base: base) }
        var representation = Representation(id: "0", segments: .playlist(url: urls[0]))
        if urls.count > 1 { representation.bases = urls }
        return manifest(of: representation)
    }

    private static func parse(_ bytes: [UInt8], _ format: StaticString) throws(ManifestError) -> JSONValue {
        let value: JSONValue
        do throws(JSONError) { value = try JSONValue.parseForeign(bytes) } catch {
            throw .malformed(what: "\(format), \(error.description)")
        }
        guard value.members != nil else { throw .malformed(what: "\(format) that is not an object") }
        return value
    }

    /// - Returns: at least one.
    private static func urls(
        _ object: JSONValue, _ format: StaticString, _ base: URLReference
    ) throws(ManifestError) -> [String] {
        guard let list = object["urls"], list[0] != nil else { throw .malformed(what: "\(format) without urls") }
        var urls: [String] = []
        while urls.count < mostURLs, let element = list[urls.count] {
            guard let text = element.string, !text.isEmpty else {
                throw .malformed(what: "\(format) with a URL that is not text")
            }
            urls.append(URLReference(text).resolved(against: base).url)
        }
        return urls
    }

    private static func manifest(of representation: Representation) -> Manifest {
        let set = AdaptationSet(id: nil, language: nil, representations: [representation])
        return Manifest(periods: [Period(id: nil, start: 0, duration: nil, adaptationSets: [set])])
    }
}
