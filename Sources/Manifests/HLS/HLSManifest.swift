import Media
import Platform

/// A playlist of HLS as a manifest: a master playlist, or a media playlist that stands alone (RFC 8216, 4.3.4).
struct HLSManifest {
    private let base: URLReference
    private var variants: [(attributes: HLSAttributes, uri: String)] = []
    /// The sound that variants share.
    private var renditions: [HLSAttributes] = []
    private var sessionKeys: [ContentProtection] = []

    private static let mostEntries = 1000

    static func read(_ bytes: [UInt8], base: URLReference) throws(ManifestError) -> Manifest {
        var lines = try HLSLines(bytes)
        while let line = try lines.next() {
            if line.is("EXT-X-STREAM-INF") { return try HLSManifest(bytes, base: base).manifest() }
            if line.is("EXTINF") { break }
        }
        let playlist = try MediaPlaylist(bytes, base: base)
        return manifest(
            of: [AdaptationSet(id: nil, language: nil, representations: [Self.representation("0", playlist)])],
            playlist)
    }

    private init(_ bytes: [UInt8], base: URLReference) throws(ManifestError) {
        self.base = base
        var lines = try HLSLines(bytes)
        var pending: HLSAttributes?
        while let line = try lines.next() {
            switch line {
            case .uri(let uri):
                guard let attributes = pending else { throw lines.malformed("a variant without EXT-X-STREAM-INF") }
                variants.append((attributes, uri))
                pending = nil
            case .tag(let name, let value):
                if line.is("EXT-X-STREAM-INF") {
                    pending = try MediaPlaylist.attributes(value, lines)
                } else if line.is("EXT-X-MEDIA") {
                    let attributes = try MediaPlaylist.attributes(value, lines)
                    if attributes.has("TYPE", "AUDIO") { renditions.append(attributes) }
                } else if line.is("EXT-X-SESSION-KEY") {
                    let attributes = try MediaPlaylist.attributes(value, lines)
                    sessionKeys.append(try MediaPlaylist.key(attributes, base, lines))
                } else if line.is("EXTINF") || line.is("EXT-X-DEFINE") {
                    throw .unsupported(what: "HLS, line \(lines.number): a master playlist with \(name)")
                }
            }
            guard variants.count + renditions.count + sessionKeys.count <= Self.mostEntries else {
                throw lines.malformed("too many variants")
            }
        }
        if pending != nil { throw lines.malformed("EXT-X-STREAM-INF without a variant") }
    }

    private func manifest() throws(ManifestError) -> Manifest {
        var own = AdaptationSet(id: nil, language: nil, representations: [])
        var shared: [AdaptationSet] = []
        var first: MediaPlaylist?
        for (number, variant) in variants.enumerated() {
            let codecs = variant.attributes.text("CODECS").map(CodecList.codecs)
            let sounds = codecs?.filter(CodecList.isSound)
            // The variant has pictures alone.
            if let sounds, sounds.isEmpty { continue }
            let group = variant.attributes.text("AUDIO").map { name in
                renditions.filter { $0.text("GROUP-ID").map { $0.utf8.elementsEqual(name.utf8) } ?? false }
            }
            var uris: [(uri: String, rendition: HLSAttributes?)] = []
            for rendition in group ?? [] {
                // Without a URI the sound is in the variant.
                uris.append((rendition.text("URI") ?? variant.uri, rendition))
            }
            if uris.isEmpty { uris = [(variant.uri, nil)] }
            for (uri, rendition) in uris {
                var found = try representation("\(number)", uri, &first)
                found.codecs = sounds ?? []
                found.bandwidth = variant.attributes.integer("BANDWIDTH")
                if let channels = rendition?.text("CHANNELS") {
                    found.channelCount = XMLValue.integer(
                        String(decoding: Array(channels.utf8.prefix { $0 != UInt8(ascii: "/") }), as: UTF8.self)
                    ).flatMap { 1...64 ~= $0 ? Int($0) : nil }
                }
                if found.contentProtections.isEmpty { found.contentProtections = sessionKeys }
                guard let rendition else {
                    Self.add(found, to: &own)
                    continue
                }
                Self.add(found, rendition, to: &shared)
            }
        }
        let sets = (own.representations.isEmpty ? [] : [own]) + shared
        guard !sets.isEmpty else { throw .unsupported(what: "HLS without sound") }
        return Self.manifest(of: sets, first)
    }

    /// Renditions of one name in several groups are representations of one sound. The default comes first.
    private static func add(_ found: Representation, _ rendition: HLSAttributes, to sets: inout [AdaptationSet]) {
        let name = rendition.text("NAME")
        if let index = sets.firstIndex(where: {
            $0.id.map { $0.utf8.elementsEqual((name ?? "").utf8) } ?? (name == nil)
        }) {
            if let group = rendition.text("GROUP-ID") { sets[index].groups.append(group) }
            return add(found, to: &sets[index])
        }
        let isDefault = rendition.has("DEFAULT", "YES")
        let set = AdaptationSet(
            id: name, language: rendition.text("LANGUAGE"), isMain: isDefault || !describesPictures(rendition),
            groups: rendition.text("GROUP-ID").map { [$0] } ?? [], representations: [found])
        sets.insert(set, at: isDefault ? 0 : sets.count)
    }

    /// Adds a representation. One that differs from another only in its address is a redundant stream. Its playlist is
    /// an alternative to that of the other (RFC 8216, 6.2.4).
    private static func add(_ found: Representation, to set: inout AdaptationSet) {
        guard !set.representations.contains(where: { $0.segments == found.segments }) else { return }
        guard case .playlist(let url) = found.segments,
            let place = set.representations.firstIndex(where: { $0.isRedundant(with: found) }),
            case .playlist(let first) = set.representations[place].segments
        else {
            set.representations.append(found)
            return
        }
        if set.representations[place].bases.isEmpty { set.representations[place].bases = [first] }
        set.representations[place].bases.append(url)
    }

    /// RFC 8216, 4.3.4.1.
    private static func describesPictures(_ rendition: HLSAttributes) -> Bool {
        guard let characteristics = rendition.text("CHARACTERISTICS") else { return false }
        return CodecList.codecs(characteristics).contains {
            $0.utf8.elementsEqual("public.accessibility.describes-video".utf8)
        }
    }

    /// The representation of a playlist. A playlist inside the URL (`data:`) is read now; others are loaded later.
    private func representation(
        _ id: String, _ uri: String, _ first: inout MediaPlaylist?
    ) throws(ManifestError) -> Representation {
        guard let data = DataURL(uri) else {
            return Representation(id: id, segments: .playlist(url: URLReference(uri).resolved(against: base).url))
        }
        let playlist = try MediaPlaylist(data.bytes, base: base)
        first = first ?? playlist
        return Self.representation(id, playlist)
    }

    private static func representation(_ id: String, _ playlist: MediaPlaylist) -> Representation {
        var result = Representation(id: playlist.formatName ?? id, segments: .list(playlist.certainSegments))
        result.sampleRate = playlist.sampleRate
        result.bitDepth = playlist.bitDepth
        result.contentProtections = playlist.segments.segments.first { !$0.protections.isEmpty }?.protections ?? []
        return result
    }

    /// - Parameter playlist: one that was read already.
    private static func manifest(of sets: [AdaptationSet], _ playlist: MediaPlaylist?) -> Manifest {
        let duration = playlist?.segments.timeline.duration
        var live: LivePresentation?
        if let playlist, !playlist.segments.isComplete {
            live = LivePresentation(updatePeriod: playlist.targetDuration)
        }
        return Manifest(
            periods: [Period(id: nil, start: 0, duration: duration, adaptationSets: sets)], live: live,
            duration: duration)
    }
}

extension Representation {
    fileprivate func isRedundant(with other: Representation) -> Bool {
        guard case .playlist = segments, bandwidth != nil else { return false }
        return bandwidth == other.bandwidth && channelCount == other.channelCount
            && codecs.count == other.codecs.count
            && zip(codecs, other.codecs).allSatisfy { $0.utf8.elementsEqual($1.utf8) }
    }
}
