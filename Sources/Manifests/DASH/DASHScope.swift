import Media
import Platform

/// The properties that an element inherits from those around it: base URLs, attributes, and how segments are addressed.
struct DASHScope {
    private(set) var base: URLReference
    /// All alternatives to `base`, which is the first one.
    private(set) var bases: [URLReference]
    var live: LivePresentation?
    /// The start and the duration of the period, in seconds.
    var period: (start: Double, duration: Double?) = (0, nil)
    /// The elements around, the innermost first.
    private var elements: [XMLElement] = []

    private static let mostRuns = 20_000
    private static let mostSegments = 20_000
    private static let mostBases = 8

    init(_ base: URLReference) { (self.base, bases) = (base, [base]) }

    /// The scope inside an element. Several base URLs are alternatives (5.6), at each level.
    func inside(_ element: XMLElement) -> DASHScope {
        var scope = self
        scope.elements.insert(element, at: 0)
        let children = element.children("BaseURL").map { URLReference($0.text) }
        guard !children.isEmpty else { return scope }
        scope.bases = []
        for base in bases {
            for child in children where scope.bases.count < Self.mostBases {
                let resolved = child.resolved(against: base)
                let isKnown = scope.bases.contains { $0.url.utf8.elementsEqual(resolved.url.utf8) }
                if !isKnown { scope.bases.append(resolved) }
            }
        }
        scope.base = scope.bases[0]
        return scope
    }

    /// The attribute of the innermost element that has it.
    func attribute(_ name: StaticString) -> String? { elements.lazy.compactMap { $0.attribute(name) }.first }

    func child(_ name: StaticString) -> XMLElement? { elements.lazy.compactMap { $0.child(name) }.first }

    /// The children of that name on all levels, the innermost first.
    func children(_ name: StaticString) -> [XMLElement] { elements.flatMap { $0.children(name) } }

    // MARK: Segments

    func addressing(
        _ element: XMLElement, representation: String, bandwidth: Int?
    ) throws(ManifestError) -> SegmentAddressing {
        let templates = Inherited(elements.compactMap { $0.child("SegmentTemplate") })
        if !templates.isEmpty {
            let template = try template(templates, element, representation, bandwidth)
            if template.hasEmptyRuns, let list = template.list { return .list(list) }
            return .template(template)
        }
        let lists = Inherited(elements.compactMap { $0.child("SegmentList") })
        if !lists.isEmpty { return .list(try list(lists, element)) }
        let bases = Inherited(elements.compactMap { $0.child("SegmentBase") })
        var file = IndexedFile(url: base.url)
        file.index = try bases.range("indexRange")
        file.initialization = try bases.child("Initialization")?.range("range")
        file.mediaOffset = Double(try bases.number("presentationTimeOffset") ?? 0) / Double(try timescale(bases))
        return .file(file)
    }

    private func template(
        _ levels: Inherited, _ element: XMLElement, _ representation: String, _ bandwidth: Int?
    ) throws(ManifestError) -> SegmentTemplate {
        func template(_ text: String) throws(ManifestError) -> URLTemplate {
            guard let template = URLTemplate(text, representation: representation, bandwidth: bandwidth) else {
                throw element.malformed("a template with an unknown identifier: \(text)")
            }
            return template
        }
        guard let media = levels.attribute("media") else { throw element.malformed("SegmentTemplate without media") }
        var initialization: ResourceReference?
        if let text = levels.attribute("initialization") {
            let url = URLReference(try template(text).text(number: 0, time: 0)).resolved(against: base)
            initialization = ResourceReference(url: url.url)
        } else if let child = levels.child("Initialization") {
            initialization = try resource(child, "sourceURL", "range")
        }
        let timescale = try timescale(levels)
        let offset = try levels.number("presentationTimeOffset") ?? 0
        return SegmentTemplate(
            media: try template(media), base: base, initialization: initialization,
            startNumber: try levels.number("startNumber") ?? 1, timescale: timescale, presentationTimeOffset: offset,
            runs: try runs(levels, element, timescale: timescale, offset: offset), periodDuration: period.duration,
            availability: live.map { live in
                SegmentTemplate.Availability(
                    start: (live.availabilityStart ?? 0) + period.start, timeShift: live.timeShift,
                    offset: levels.attribute("availabilityTimeOffset").flatMap { Double(decimal: $0) } ?? 0)
            }, hasExactTimes: levels.child("SegmentTimeline") != nil)
    }

    private func timescale(_ levels: Inherited) throws(ManifestError) -> Int64 {
        let timescale = try levels.number("timescale") ?? 1
        guard 1...Int64(UInt32.max) ~= timescale else { throw levels.malformed("a timescale of \(timescale)") }
        return timescale
    }

    /// The runs of a `SegmentTimeline`, or the one of a constant duration.
    private func runs(
        _ levels: Inherited, _ element: XMLElement, timescale: Int64, offset: Int64
    ) throws(ManifestError) -> [SegmentTemplate.Run] {
        guard let timeline = levels.child("SegmentTimeline") else {
            guard let duration = try levels.number("duration"), duration > 0 else {
                throw element.malformed("segments without a duration")
            }
            return [SegmentTemplate.Run(time: offset, duration: duration, count: nil)]
        }
        let entries = timeline.children("S")
        guard !entries.isEmpty else { throw timeline.malformed("SegmentTimeline without S") }
        guard entries.count <= Self.mostRuns else { throw timeline.malformed("SegmentTimeline with too many entries") }
        var runs: [SegmentTemplate.Run] = []
        var time: Int64 = 0
        for (index, entry) in entries.enumerated() {
            guard let duration = try entry.number("d") else { throw entry.malformed("S without d") }
            time = try entry.number("t") ?? time
            var count: Int64? = 1
            if let text = entry.attribute("r") {
                // A negative count repeats up to the next entry, or to the end of the period (5.3.9.6).
                if text.utf8.first == UInt8(ascii: "-"), duration > 0 {
                    count = nil
                    if index + 1 < entries.count {
                        guard let next = try entries[index + 1].number("t"), next > time else {
                            throw entry.malformed("repetitions up to an entry without a time")
                        }
                        count = (next - time + duration - 1) / duration
                    }
                } else if duration > 0 || text.utf8.first != UInt8(ascii: "-") {
                    guard let repetitions = XMLValue.integer(text), repetitions < 1 << 32 else {
                        throw entry.malformed("r is not a number: \(text)")
                    }
                    count = repetitions + 1
                }
            }
            runs.append(SegmentTemplate.Run(time: time, duration: duration, count: count))
            if let count {
                let (length, isBeyond) = count.multipliedReportingOverflow(by: duration)
                guard !isBeyond, length <= AudioLimits.largestTime, time <= AudioLimits.largestTime else {
                    throw entry.malformed("a time that is too large")
                }
                time += length
            }
        }
        return runs
    }

    private func list(_ levels: Inherited, _ element: XMLElement) throws(ManifestError) -> SegmentList {
        let timescale = try timescale(levels)
        let elements = levels.children("SegmentURL")
        guard elements.count <= Self.mostSegments else { throw element.malformed("SegmentList with too many segments") }
        let times: [SegmentTemplate.Run]
        if elements.count == 1, levels.child("SegmentTimeline") == nil, try levels.number("duration") == nil {
            // A single segment needs no duration: it has that of the period.
            let length = (period.duration ?? 0) * Double(timescale)
            times = [.init(time: 0, duration: max(1, Int64(exactly: length.rounded()) ?? 1), count: 1)]
        } else {
            times = try runs(levels, element, timescale: timescale, offset: 0)
        }
        let offset = try levels.number("presentationTimeOffset") ?? 0
        var initialization: ResourceReference?
        if let child = levels.child("Initialization") { initialization = try resource(child, "sourceURL", "range") }
        var segments: [SegmentReference] = []
        var run = 0
        var place: Int64 = 0
        for child in elements {
            if run + 1 < times.count, let count = times[run].count, place >= count {
                run += 1
                place = 0
            }
            let (elapsed, isBeyond) = place.multipliedReportingOverflow(by: times[run].duration)
            guard !isBeyond, elapsed <= AudioLimits.largestTime else {
                throw child.malformed("a time that is too large")
            }
            segments.append(
                SegmentReference(
                    resource: try resource(child, "media", "mediaRange"),
                    start: Double(times[run].time + elapsed - offset) / Double(timescale),
                    duration: Double(times[run].duration) / Double(timescale), initialization: initialization))
            place += 1
        }
        guard !segments.isEmpty else { throw element.malformed("SegmentList without a segment") }
        var result = SegmentList(segments: segments, isComplete: live == nil)
        result.firstIndex = SegmentList.index(ofNumber: try levels.number("startNumber") ?? 1)
        result.mediaOffset = Double(offset) / Double(timescale)
        result.hasExactTimes = levels.child("SegmentTimeline") != nil
        return result
    }

    /// An element with a URL and a range; without a URL it is the base.
    private func resource(
        _ element: XMLElement, _ url: StaticString, _ range: StaticString
    ) throws(ManifestError) -> ResourceReference {
        let target = element.attribute(url).map { URLReference($0).resolved(against: base) } ?? base
        return ResourceReference(url: target.url, range: try element.range(range))
    }
}

/// An element that overrides those of the same name further out, attribute by attribute.
private struct Inherited {
    /// The innermost first.
    private let elements: [XMLElement]

    init(_ elements: [XMLElement]) { self.elements = elements }

    var isEmpty: Bool { elements.isEmpty }

    private func holder(_ name: StaticString) -> XMLElement? { elements.first { $0.attribute(name) != nil } }

    func attribute(_ name: StaticString) -> String? { holder(name)?.attribute(name) }

    func number(_ name: StaticString) throws(ManifestError) -> Int64? { try holder(name)?.number(name) }

    func range(_ name: StaticString) throws(ManifestError) -> Range<Int64>? { try holder(name)?.range(name) }

    func child(_ name: StaticString) -> XMLElement? { elements.lazy.compactMap { $0.child(name) }.first }

    /// The children of the innermost element that has any.
    func children(_ name: StaticString) -> [XMLElement] {
        elements.lazy.map { $0.children(name) }.first { !$0.isEmpty } ?? []
    }

    func malformed(_ what: String) -> ManifestError {
        elements.first?.malformed(what) ?? .malformed(what: "DASH: \(what)")
    }
}

extension XMLElement {
    /// An attribute with a range of bytes.
    func range(_ name: StaticString) throws(ManifestError) -> Range<Int64>? {
        guard let text = attribute(name) else { return nil }
        guard let range = XMLValue.byteRange(text) else { throw malformed("\(name) is not a range: \(text)") }
        return range
    }
}
