import Media
import Platform

/// A media presentation description of MPEG-DASH (ISO/IEC 23009-1).
struct DASHManifest {
    let manifest: Manifest

    private static let mostPeriods = 1000

    /// - Parameter url: where the bytes came from, for relative URLs.
    init(_ bytes: [UInt8], url: String) throws(ManifestError) {
        let root: XMLElement
        do throws(ManifestError) { root = try XMLElement.parse(bytes) } catch { throw error.prefixed(by: "DASH") }
        guard root.is("MPD") else { throw .malformed(what: "DASH, line \(root.line): \(root.name) is not an MPD") }
        let base = DASHScope(URLReference(url)).inside(root)
        let live = root.attribute("type")?.utf8.elementsEqual("dynamic".utf8) == true ? Self.live(root, base) : nil
        let duration = try root.duration("mediaPresentationDuration")

        let elements = root.children("Period")
        guard elements.count <= Self.mostPeriods else { throw .malformed(what: "DASH with more than 1000 periods") }
        var periods: [Period] = []
        for (index, element) in elements.enumerated() {
            let end = periods.last.flatMap { last in last.duration.map { last.start + $0 } }
            // Without a start, a period begins where the one before ends (5.3.2.1).
            guard let start = try element.duration("start") ?? (index == 0 ? 0 : end) else {
                throw element.malformed("a period of which the start is not known")
            }
            let next = index + 1 < elements.count ? try elements[index + 1].duration("start") : duration
            let length = try element.duration("duration") ?? next.map { max(0, $0 - start) }
            if index > 0, periods[index - 1].duration == nil {
                periods[index - 1].duration = start - periods[index - 1].start
            }
            var scope = base
            scope.live = live
            scope.period = (start, length)
            var period = try Self.period(element, scope.inside(element))
            let isLast = index + 1 == elements.count && element.attribute("duration") == nil
            period.endRounding = Self.rounding(of: period, isLast ? root.attribute("mediaPresentationDuration") : nil)
            periods.append(period)
        }
        guard periods.contains(where: { !$0.adaptationSets.isEmpty }) else {
            throw .unsupported(what: periods.isEmpty ? "DASH without a period" : "DASH without sound")
        }
        manifest = Manifest(
            periods: periods, live: live,
            duration: duration
                ?? (live == nil ? periods.last.flatMap { last in last.duration.map { last.start + $0 } } : nil))
    }

    private static func live(_ root: XMLElement, _ scope: DASHScope) -> LivePresentation {
        func seconds(_ text: String?) -> Double? { text.flatMap(XMLValue.duration) }
        return LivePresentation(
            availabilityStart: root.attribute("availabilityStartTime").flatMap(XMLValue.moment),
            updatePeriod: seconds(root.attribute("minimumUpdatePeriod")),
            timeShift: seconds(root.attribute("timeShiftBufferDepth")),
            suggestedDelay: seconds(root.attribute("suggestedPresentationDelay")),
            location: root.child("Location").map { URLReference($0.text).resolved(against: scope.base).url })
    }

    /// Packagers round the length of the whole presentation more than that of a period: to milliseconds, tenths or
    /// seconds. Some write a number with 24 significant bits.
    /// - Parameter whole: the length of the presentation, if nothing else defines the end of the period.
    private static func rounding(of period: Period, _ whole: String?) -> Double {
        let bits = (period.start + (period.duration ?? 0)) / Double(1 << 22)
        return max(SegmentList.tolerance, bits, whole.map(XMLValue.unit(ofDuration:)) ?? 0)
    }

    private static func period(_ element: XMLElement, _ scope: DASHScope) throws(ManifestError) -> Period {
        var period = Period(
            id: element.attribute("id"), start: scope.period.start, duration: scope.period.duration,
            adaptationSets: [])
        for child in element.children("AdaptationSet") {
            if let set = try adaptationSet(child, scope.inside(child)) { period.adaptationSets.append(set) }
        }
        return period
    }

    /// - Returns: nil for a set without sound.
    private static func adaptationSet(
        _ element: XMLElement, _ scope: DASHScope
    ) throws(ManifestError) -> AdaptationSet? {
        var set = AdaptationSet(
            id: element.attribute("id"), language: element.attribute("lang"), isMain: isMain(element),
            roles: roles(element), representations: [])
        for child in element.children("Representation") {
            let inner = scope.inside(child)
            guard isSound(element, child) else { continue }
            set.representations.append(try representation(child, inner))
        }
        return set.representations.isEmpty ? nil : set
    }

    /// Whether a set is the main sound, by its roles (ISO/IEC 23009-1, 5.8.5.5). A set without roles counts as main.
    private static func isMain(_ set: XMLElement) -> Bool {
        let roles = roles(set)
        return roles.isEmpty || roles.contains { $0.utf8.elementsEqual("main".utf8) }
    }

    private static func roles(_ set: XMLElement) -> [String] {
        let roles = set.children("Role").filter {
            $0.attribute("schemeIdUri")?.utf8.elementsEqual("urn:mpeg:dash:role:2011".utf8) ?? false
        }
        return roles.compactMap { $0.attribute("value") }.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    }

    /// Whether a set has sound, by the type of its content or by its codecs. A video with its sound in the same files
    /// counts, too.
    private static func isSound(_ set: XMLElement, _ representation: XMLElement) -> Bool {
        let elements = [representation, set]
        if let type = elements.lazy.compactMap({ $0.attribute("mimeType") }).first,
            type.utf8.starts(with: "audio/".utf8)
        {
            return true
        }
        let content = set.attribute("contentType") ?? set.child("ContentComponent")?.attribute("contentType")
        if let content, content.utf8.elementsEqual("audio".utf8) { return true }
        guard let codecs = elements.lazy.compactMap({ $0.attribute("codecs") }).first else { return false }
        return CodecList.codecs(codecs).contains(where: CodecList.isSound)
    }

    private static func representation(
        _ element: XMLElement, _ scope: DASHScope
    ) throws(ManifestError) -> Representation {
        guard let id = element.attribute("id") else { throw element.malformed("Representation without id") }
        let bandwidth = try element.integer("bandwidth")
        var result = Representation(
            id: id, segments: try scope.addressing(element, representation: id, bandwidth: bandwidth))
        result.bandwidth = bandwidth
        if scope.bases.count > 1 { result.bases = scope.bases.map { $0.url } }
        result.mimeType = scope.attribute("mimeType").map { $0.lowercasedASCII }
        result.codecs = scope.attribute("codecs").map(CodecList.codecs) ?? []
        // A range of rates consists of two.
        result.sampleRate = scope.attribute("audioSamplingRate").flatMap {
            XMLValue.integer(String(decoding: Array($0.utf8.prefix { $0 != 0x20 }), as: UTF8.self))
        }.flatMap { Int(exactly: $0) }
        result.channelCount = scope.child("AudioChannelConfiguration")?.attribute("value")
            .flatMap { XMLValue.integer($0) }.flatMap { 1...64 ~= $0 ? Int($0) : nil }
        result.contentProtections = scope.children("ContentProtection").compactMap { contentProtection($0, scope) }
        let format = FormatName(id)
        result.sampleRate = result.sampleRate ?? format.sampleRate
        result.bitDepth = format.bitDepth
        return result
    }

    private static func contentProtection(_ element: XMLElement, _ scope: DASHScope) -> ContentProtection? {
        guard let scheme = element.attribute("schemeIdUri") else { return nil }
        var protection = ContentProtection(scheme: scheme.lowercasedASCII, value: element.attribute("value"))
        protection.defaultKeyID = element.attribute("default_KID").flatMap(XMLValue.keyID)
        protection.initializationData = element.child("pssh").flatMap { Base64.bytes($0.text.utf8) }
        // The form of DASH-IF for ClearKey.
        if let address = element.child("Laurl") ?? element.child("laurl"),
            address.text.utf8.contains(where: { !TagText.isBlank($0) })
        {
            protection.keyURI = URLReference(address.text).resolved(against: scope.base).url
        }
        return protection
    }
}

extension ManifestError {
    func prefixed(by format: StaticString) -> ManifestError {
        switch self {
        case .malformed(let what): .malformed(what: "\(format), \(what)")
        case .unsupported(let what): .unsupported(what: "\(format), \(what)")
        }
    }
}

extension XMLElement {
    func malformed(_ what: String) -> ManifestError { .malformed(what: "DASH, line \(line): \(what)") }

    /// An attribute with a duration, in seconds.
    func duration(_ name: StaticString) throws(ManifestError) -> Double? {
        guard let text = attribute(name) else { return nil }
        guard let seconds = XMLValue.duration(text) else { throw malformed("\(name) is not a duration: \(text)") }
        return seconds
    }

    /// An attribute with a whole number.
    func number(_ name: StaticString) throws(ManifestError) -> Int64? {
        guard let text = attribute(name) else { return nil }
        guard let value = XMLValue.integer(text, upTo: AudioLimits.largestTime) else {
            throw malformed("\(name) is not a number: \(text)")
        }
        return value
    }

    func integer(_ name: StaticString) throws(ManifestError) -> Int? {
        guard let value = try number(name) else { return nil }
        guard value <= 1 << 53, let small = Int(exactly: value) else {
            throw malformed("\(name) is too large: \(value)")
        }
        return small
    }
}
