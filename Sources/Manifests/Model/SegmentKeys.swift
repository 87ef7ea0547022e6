/// How a segment is encrypted as a whole, of HLS. Segments share the keys that are in force for all of them: a long
/// playlist may have many keys.
public struct SegmentKeys: Sendable {
    /// A key as a tag declares it.
    final class Declared: Sendable {
        let protection: ContentProtection

        init(_ protection: ContentProtection) { self.protection = protection }
    }

    /// The keys, one for each key system.
    let declared: [Declared]
    /// The sequence number of the segment, which gives the vector when no tag has one; nil: it gives none.
    private let number: Int64?

    init(_ declared: [Declared] = [], number: Int64? = nil) {
        self.declared = declared
        self.number = number
    }

    public var isEmpty: Bool { declared.isEmpty }

    /// One entry for each key system, with its vector.
    public var protections: [ContentProtection] {
        declared.map { key in
            var protection = key.protection
            if protection.initializationVector == nil { protection.initializationVector = number.map(Self.vector) }
            return protection
        }
    }

    /// The sequence number in 128 bits (RFC 8216, 5.2).
    private static func vector(ofSegment number: Int64) -> [UInt8] {
        [UInt8](repeating: 0, count: 8) + (0..<8).map { UInt8(truncatingIfNeeded: number >> Int64(56 - 8 * $0)) }
    }
}

extension SegmentKeys: Equatable {
    public static func == (left: SegmentKeys, right: SegmentKeys) -> Bool {
        guard left.hasSameTags(as: right) else { return false }
        return left.number == right.number || left.declared.allSatisfy { $0.protection.initializationVector != nil }
    }

    /// Whether the same tags, or tags with the same content, declare both.
    private func hasSameTags(as other: SegmentKeys) -> Bool {
        declared.count == other.declared.count
            && declared.indices.allSatisfy {
                declared[$0] === other.declared[$0] || declared[$0].protection == other.declared[$0].protection
            }
    }
}

extension SegmentList {
    /// How the segments are encrypted, as the tags declare it. A key that many segments share is listed once.
    public var declaredProtections: [ContentProtection] {
        var found: [ContentProtection] = []
        var last: [SegmentKeys.Declared] = []
        for segment in segments {
            for key in segment.keys.declared where !last.contains(where: { $0 === key }) {
                found.append(key.protection)
            }
            last = segment.keys.declared
        }
        return found
    }
}
