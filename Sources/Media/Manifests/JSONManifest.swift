import Platform

/// The service's own manifests: a JSON object with the URLs of one piece of content (docs/service.md).
enum JSONManifest {
    /// One file in one encoding. The first of several URLs counts.
    static func bts(_ bytes: [UInt8], base: URLReference) throws(ManifestError) -> Manifest {
        let object = try parse(bytes, "BTS")
        if let encryption = object["encryptionType"]?.string, !encryption.utf8.elementsEqual("NONE".utf8) {
            throw .unsupported(what: "BTS with encryption “\(encryption)”")
        }
        let url = try firstURL(object, "BTS", base)
        var representation = Representation(id: "0", segments: .file(IndexedFile(url: url)))
        representation.mimeType = object["mimeType"]?.string.map(TagText.lowercased)
        representation.codecs = object["codecs"]?.string.map(CodecList.codecs) ?? []
        return manifest(of: representation)
    }

    /// A playlist, which has to be loaded.
    static func emu(_ bytes: [UInt8], base: URLReference) throws(ManifestError) -> Manifest {
        let object = try parse(bytes, "EMU")
        if let type = object["mimeType"]?.string, ManifestFormat(mimeType: type) != .hls {
            throw .unsupported(what: "EMU with “\(type)”")
        }
        let url = try firstURL(object, "EMU", base)
        if let data = DataURL(url) { return try HLSManifest.read(data.bytes, base: base) }
        return manifest(of: Representation(id: "0", segments: .playlist(url: url)))
    }

    private static func parse(_ bytes: [UInt8], _ format: StaticString) throws(ManifestError) -> JSONValue {
        let value: JSONValue
        do throws(JSONError) { value = try JSONValue.parseForeign(bytes) } catch {
            throw .malformed(what: "\(format), \(error.description)")
        }
        guard value.members != nil else { throw .malformed(what: "\(format) that is not an object") }
        return value
    }

    private static func firstURL(
        _ object: JSONValue, _ format: StaticString, _ base: URLReference
    ) throws(ManifestError) -> String {
        guard let first = object["urls"]?[0] else { throw .malformed(what: "\(format) without urls") }
        guard let text = first.string, !text.isEmpty else {
            throw .malformed(what: "\(format) with a URL that is not text")
        }
        return URLReference(text).resolved(against: base).url
    }

    private static func manifest(of representation: Representation) -> Manifest {
        let set = AdaptationSet(id: nil, language: nil, representations: [representation])
        return Manifest(periods: [Period(id: nil, start: 0, duration: nil, adaptationSets: [set])])
    }
}
