import Platform

/// Faults for a test or an integrator, from a file of sections (docs/service.md,
/// "Faults"; docs/decisions/origin-faults.md).
public struct FaultPlan: Equatable, Sendable {
    /// The rules in the order of the file.
    var rules: [FaultRule] = []

    /// All mistakes of a file.
    public struct Mistakes: Error, Sendable {
        public let problems: [SectionedText.Problem]
    }

    /// Makes a plan without faults.
    public init() {}

    public init(parsing text: [UInt8]) throws(Mistakes) {
        let sections = SectionedText(parsing: text)
        var problems = sections.problems
        for section in sections.sections {
            guard section.kind == "fault", section.name != nil else {
                problems.append(.init(line: section.line, message: "a section is written `[fault NAME]`"))
                continue
            }
            var reader = SectionReader(section)
            let rule = FaultRule(&reader)
            reader.finish()
            problems += reader.problems
            if let rule { rules.append(rule) }
        }
        if !problems.isEmpty { throw Mistakes(problems: problems) }
    }
}

/// A fault, and the requests for which it happens.
struct FaultRule: Equatable, Sendable {
    var name: String
    /// The pattern of the path: `*` matches any characters, also none.
    var path: String
    /// The number of matching requests before the first that fails.
    var skip = 0
    /// The number of matching requests that fail; nil: all later ones.
    var count: Int?

    /// The status to answer with instead; nil for the real answer.
    var status: Int?
    var subStatus = 0
    /// The value of `Retry-After`, in seconds.
    var retryAfter: Int?
    var manifest: OriginSettings.ManifestKind?
    /// The seconds that are added to `Date`.
    var clockOffset = 0
    var delivery = DeliveryFault()

    /// - Returns: nil when the plan has mistakes, which are then in `reader.problems`.
    init?(_ reader: inout SectionReader) {
        let bytes = 0...Int(Int32.max)
        let before = reader.problems.count
        name = reader.section.name ?? ""
        path = reader.requiredText("path") ?? ""
        skip = reader.integer("skip", in: 0...1_000_000) ?? 0
        count = reader.integer("count", in: 1...1_000_000)
        status = reader.integer("status", in: 400...599)
        subStatus = reader.integer("sub-status", in: 0...99_999) ?? 0
        retryAfter = reader.integer("retry-after", in: 0...86_400)
        manifest = reader.choice("manifest", of: OriginSettings.ManifestKind.self)
        clockOffset = reader.integer("clock-offset", in: -4_000_000_000...4_000_000_000) ?? 0
        delivery.lengthDifference = Int64(reader.integer("length-difference", in: -(1 << 30)...(1 << 30)) ?? 0)
        delivery.socketFault = reader.choice("web-socket", of: DeliveryFault.SocketFault.self)
        delivery.bytesPerSecond = reader.integer("bytes-per-second", in: 1...(1 << 30))
        var ends: [DeliveryFault.End] = []
        if let count = reader.integer("stall-after", in: bytes) { ends.append(.stall(after: Int64(count))) }
        if let count = reader.integer("reset-after", in: bytes) { ends.append(.reset(after: Int64(count))) }
        if let count = reader.integer("truncate-after", in: bytes) { ends.append(.close(after: Int64(count))) }
        delivery.end = ends.first
        if ends.count > 1 { reader.refuse("can have one of stall-after, reset-after and truncate-after") }
        if status == nil, subStatus != 0 || retryAfter != nil { reader.refuse("needs `status` for what it answers") }
        guard reader.problems.count == before else { return nil }
        if status == nil, manifest == nil, clockOffset == 0, delivery == DeliveryFault() {
            reader.refuse("does nothing: give it a status, a manifest, a clock-offset or a delivery")
            return nil
        }
    }

    func matches(_ path: String) -> Bool { Self.matches(Array(path.utf8)[...], Array(self.path.utf8)[...]) }

    /// Returns only to the last `*`, so the work is at most the product of the lengths.
    private static func matches(_ text: ArraySlice<UInt8>, _ pattern: ArraySlice<UInt8>) -> Bool {
        var (text, pattern) = (text, pattern)
        var star: (text: ArraySlice<UInt8>, pattern: ArraySlice<UInt8>)?
        while true {
            if pattern.first == UInt8(ascii: "*") {
                pattern = pattern.dropFirst()
                star = (text, pattern)
            } else if let next = text.first, next == pattern.first {
                (text, pattern) = (text.dropFirst(), pattern.dropFirst())
            } else if text.isEmpty, pattern.isEmpty {
                return true
            } else if let last = star, !last.text.isEmpty {
                star = (last.text.dropFirst(), last.pattern)
                (text, pattern) = (last.text.dropFirst(), last.pattern)
            } else {
                return false
            }
        }
    }
}
