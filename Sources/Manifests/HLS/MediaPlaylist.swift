import Media
import Platform

/// A media playlist of HLS: the segments of one representation (RFC 8216, 4.3.3).
public struct MediaPlaylist: Equatable, Sendable {
    public private(set) var segments = SegmentList(segments: [], isComplete: false)
    /// The address of the last segment of a playlist without an end, if its line has none either: the playlist may be
    /// cut off inside it. nil otherwise.
    public private(set) var openEnd: String?
    /// The longest duration of a segment, in seconds. A live playlist is loaded again after so long.
    public private(set) var targetDuration = 0.0
    /// The name of the format as the service writes it (`FLAC_HIRES`), with its rate and depth.
    public private(set) var formatName: String?
    public private(set) var sampleRate: Int?
    public private(set) var bitDepth: Int?

    private static let mostSegments = 50_000
    private static let mostKeys = 16

    /// - Parameters:
    ///   - bytes: not more than `Manifest.mostBytes`.
    ///   - url: where they came from.
    public init(_ bytes: [UInt8], url: String) throws(ManifestError) {
        guard bytes.count <= Manifest.mostBytes else { throw .malformed(what: "a playlist of \(bytes.count) bytes") }
        try self.init(bytes, base: URLReference(url))
    }

    init(_ bytes: [UInt8], base: URLReference) throws(ManifestError) {
        var lines = try HLSLines(bytes)
        var state = State(base: base)
        var hasTarget = false
        while let line = try lines.next() {
            guard case .tag(let name, let value) = line else {
                guard case .uri(let uri) = line else { continue }
                guard segments.segments.count < Self.mostSegments else { throw lines.malformed("too many segments") }
                let segment = try state.segment(uri, segments.segments, lines)
                segments.segments.append(segment)
                openEnd = lines.isOpen ? segment.resource.url : nil
                continue
            }
            if line.is("EXTINF") {
                state.duration = try Self.seconds(
                    String(decoding: Array(value.utf8.prefix { $0 != UInt8(ascii: ",") }), as: UTF8.self), lines)
            } else if line.is("EXT-X-BYTERANGE") {
                state.byteRange = try Self.byteRange(value, lines)
            } else if line.is("EXT-X-DISCONTINUITY") {
                state.isDiscontinuous = true
                state.discontinuitySequence &+= 1
            } else if line.is("EXT-X-GAP") {
                state.isGap = true
            } else if line.is("EXT-X-DISCONTINUITY-SEQUENCE") {
                // The tag is only a hint: a number that cannot be read counts as a missing tag.
                state.discontinuitySequence = XMLValue.integer(value) ?? 0
            } else if line.is("EXT-X-KEY") {
                try state.setKey(try Self.attributes(value, lines), lines)
                guard state.keys.count <= Self.mostKeys else { throw lines.malformed("too many keys") }
            } else if line.is("EXT-X-MAP") {
                try state.setMap(try Self.attributes(value, lines), lines)
            } else if line.is("EXT-X-TARGETDURATION") {
                targetDuration = try Self.seconds(value, lines)
                hasTarget = true
            } else if line.is("EXT-X-MEDIA-SEQUENCE") {
                guard let number = XMLValue.integer(value, upTo: AudioLimits.largestTime), segments.segments.isEmpty
                else { throw lines.malformed("EXT-X-MEDIA-SEQUENCE is not a number before the first segment") }
                state.firstNumber = number
                segments.firstIndex = SegmentList.index(ofNumber: number)
            } else if line.is("EXT-X-ENDLIST") || line.is("EXT-X-PLAYLIST-TYPE") && value.utf8.elementsEqual("VOD".utf8)
            {
                segments.isComplete = true
            } else if line.is("EXT-X-DATERANGE") {
                readFormat(try Self.attributes(value, lines))
            } else if line.is("EXT-X-STREAM-INF") || line.is("EXT-X-I-FRAMES-ONLY") || line.is("EXT-X-DEFINE") {
                throw .unsupported(what: "HLS, line \(lines.number): a media playlist with \(name)")
            }
        }
        if segments.isComplete { openEnd = nil }
        guard hasTarget else { throw .malformed(what: "HLS: a media playlist without EXT-X-TARGETDURATION") }
        guard !segments.isComplete || !segments.segments.isEmpty else {
            throw .malformed(what: "HLS: a media playlist without a segment")
        }
    }

    private mutating func readFormat(_ attributes: HLSAttributes) {
        guard let name = attributes.text("X-COM-TIDAL-FORMAT"), formatName == nil else { return }
        formatName = name
        sampleRate = attributes.integer("X-COM-TIDAL-SAMPLE-RATE").flatMap {
            AudioLimits.sampleRates ~= $0 ? $0 : nil
        }
        bitDepth = attributes.integer("X-COM-TIDAL-SAMPLE-DEPTH").flatMap { AudioLimits.bitDepths ~= $0 ? $0 : nil }
    }

    /// The segments without one that may be cut off, unless it is the only one: the next load has it whole.
    public var certainSegments: SegmentList {
        var certain = segments
        if openEnd != nil, certain.segments.count > 1 { certain.segments.removeLast() }
        return certain
    }

    /// The properties that the tags before a URI give to it.
    private struct State {
        let base: URLReference
        /// The number of the first segment.
        var firstNumber: Int64 = 0
        var duration: Double?
        var byteRange: (count: Int64, offset: Int64?)?
        var isDiscontinuous = false
        var isGap = false
        var discontinuitySequence: Int64 = 0
        var keys: [SegmentKeys.Declared] = []
        var map: ResourceReference?
        /// The keys that are in force at the position of the map.
        var mapKeys = SegmentKeys()

        mutating func segment(
            _ uri: String, _ earlier: [SegmentReference], _ lines: HLSLines
        ) throws(ManifestError) -> SegmentReference {
            guard let duration else { throw lines.malformed("a segment without EXTINF") }
            let url = URLReference(uri).resolved(against: base).url
            let last = earlier.last
            var range: Range<Int64>?
            if let byteRange {
                var offset = byteRange.offset
                if offset == nil, let last, last.resource.url.utf8.elementsEqual(url.utf8) {
                    offset = last.resource.range?.upperBound
                }
                guard let offset, offset <= AudioLimits.largestData - byteRange.count else {
                    throw lines.malformed("EXT-X-BYTERANGE without an offset, and no range before it")
                }
                range = offset..<(offset + byteRange.count)
            }
            var segment = SegmentReference(
                resource: ResourceReference(url: url, range: range),
                start: last.map { $0.start + $0.duration } ?? 0, duration: duration, initialization: map,
                initializationKeys: mapKeys, isDiscontinuous: isDiscontinuous,
                discontinuitySequence: discontinuitySequence)
            segment.keys =
                keys.isEmpty ? SegmentKeys() : SegmentKeys(keys, number: firstNumber + Int64(earlier.count))
            segment.isGap = isGap
            self.duration = nil
            self.byteRange = nil
            isDiscontinuous = false
            isGap = false
            return segment
        }

        /// A key replaces the one of the same format (RFC 8216, 4.3.2.4).
        mutating func setKey(_ attributes: HLSAttributes, _ lines: HLSLines) throws(ManifestError) {
            if attributes.has("METHOD", "NONE") {
                keys = []
                return
            }
            let key = try MediaPlaylist.key(attributes, base, lines)
            let place = keys.firstIndex { $0.protection.scheme.utf8.elementsEqual(key.scheme.utf8) }
            guard let place else { return keys.append(SegmentKeys.Declared(key)) }
            // A tag that is repeated before each segment changes nothing.
            guard keys[place].protection != key else { return }
            keys.remove(at: place)
            keys.append(SegmentKeys.Declared(key))
        }

        mutating func setMap(_ attributes: HLSAttributes, _ lines: HLSLines) throws(ManifestError) {
            guard let uri = attributes.text("URI") else { throw lines.malformed("EXT-X-MAP without URI") }
            var range: Range<Int64>?
            if let text = attributes.text("BYTERANGE") {
                let found = try MediaPlaylist.byteRange(text, lines)
                let offset = found.offset ?? 0
                guard offset <= AudioLimits.largestData - found.count else {
                    throw lines.malformed("a range that is too large")
                }
                range = offset..<(offset + found.count)
            }
            mapKeys = SegmentKeys(keys)
            map = ResourceReference(url: URLReference(uri).resolved(against: base).url, range: range)
        }
    }
}

// The values of tags, which a master playlist has too.
extension MediaPlaylist {
    static func attributes(_ value: String, _ lines: HLSLines) throws(ManifestError) -> HLSAttributes {
        guard let attributes = HLSAttributes(value) else { throw lines.malformed("not a list of attributes") }
        return attributes
    }

    /// The key of `EXT-X-KEY` or `EXT-X-SESSION-KEY`.
    static func key(
        _ attributes: HLSAttributes, _ base: URLReference, _ lines: HLSLines
    ) throws(ManifestError) -> ContentProtection {
        guard let method = attributes.text("METHOD") else { throw lines.malformed("a key without METHOD") }
        guard
            attributes.has("METHOD", "AES-128") || attributes.has("METHOD", "SAMPLE-AES")
                || attributes.has("METHOD", "SAMPLE-AES-CTR")
        else { throw .unsupported(what: "HLS, line \(lines.number): encryption “\(method)”") }
        guard let uri = attributes.text("URI") else { throw lines.malformed("a key without URI") }
        let vector = attributes.bytes("IV")
        guard attributes.text("IV") == nil || vector?.count == 16 else { throw lines.malformed("IV is not 128 bits") }
        return ContentProtection(
            scheme: (attributes.text("KEYFORMAT") ?? "identity").lowercasedASCII, value: method,
            defaultKeyID: attributes.bytes("KEYID").flatMap { $0.count == 16 ? $0 : nil },
            keyURI: URLReference(uri).resolved(against: base).url, initializationVector: vector)
    }

    fileprivate static func seconds(_ text: String, _ lines: HLSLines) throws(ManifestError) -> Double {
        let digits = String(decoding: TagText.trimmed(Array(text.utf8.drop(while: TagText.isBlank))), as: UTF8.self)
        guard let seconds = Double(decimal: digits), seconds >= 0, seconds < 1e9 else {
            throw lines.malformed("not a duration: \(text)")
        }
        return seconds
    }

    /// `n[@o]`
    fileprivate static func byteRange(
        _ text: String, _ lines: HLSLines
    ) throws(ManifestError) -> (count: Int64, offset: Int64?) {
        let parts = text.utf8.split(separator: UInt8(ascii: "@"), omittingEmptySubsequences: false)
            .map { XMLValue.integer(String(decoding: Array($0), as: UTF8.self)) }
        guard 1...2 ~= parts.count, let count = parts[0], parts.count == 1 || parts[1] != nil else {
            throw lines.malformed("not a range: \(text)")
        }
        return (count, parts.count == 2 ? parts[1] : nil)
    }
}
