/// Sample groups with keys of their own (`seig`), for keys that change and for parts that are not encrypted.
struct MP4KeyGroups {
    let parameters: [MP4KeyParameters]
    /// The runs of samples: where each ends, and its parameters; nil: those of the sample entry.
    private var runs: [(end: Int64, parameters: MP4KeyParameters?)] = []

    private static let mostEntries: Int64 = 1024
    /// Indices from here on count in the fragment's own descriptions (ISO/IEC 14496-12, 8.9.4).
    private static let firstLocal: Int64 = 0x10001

    /// - Parameter trackParameters: of the track, for a fragment.
    init(
        _ groups: [MP4Box], _ descriptions: [MP4Box], of source: any ByteSource, trackParameters: [MP4KeyParameters]?
    ) throws(Interruption) {
        var parameters: [MP4KeyParameters] = []
        for box in descriptions {
            guard let descriptions = try MP4GroupDescriptions(box, of: source), descriptions.type == "seig" else {
                continue
            }
            for entry in descriptions.entries {
                guard let entry = MP4KeyParameters(entry, hasPattern: true) else {
                    throw .damaged(what: "MP4 with a key group that is cut off")
                }
                parameters.append(entry)
            }
        }
        self.parameters = parameters
        for box in groups {
            let content = try box.bytes(of: source, limit: 16 + 8 * Int(Self.mostEntries))
            guard var fields = MP4Fields(content), fields.code() == "seig" else { continue }
            if fields.version == 1 { fields.skip(4) }
            guard let count = fields.integer(UInt32.self) else { continue }
            var end: Int64 = 0
            for _ in 0..<min(Int64(count), Self.mostEntries) {
                guard let length = fields.integer(UInt32.self), let index = fields.integer(UInt32.self) else { break }
                end += Int64(length)
                if let trackParameters, index < Self.firstLocal {
                    runs.append((end, Self.element(Int64(index) - 1, of: trackParameters)))
                } else {
                    let first = trackParameters == nil ? 1 : Self.firstLocal
                    runs.append((end, Self.element(Int64(index) - first, of: parameters)))
                }
            }
        }
    }

    func parameters(of sample: Int64) -> MP4KeyParameters? {
        runs.isEmpty ? nil : runs.first { sample < $0.end }?.parameters
    }

    private static func element(_ index: Int64, of list: [MP4KeyParameters]) -> MP4KeyParameters? {
        index >= 0 && index < list.count ? list[Int(index)] : nil
    }
}

/// The descriptions of one kind of sample group (`sgpd`; ISO/IEC 14496-12, 8.9.3).
struct MP4GroupDescriptions {
    let type: FourCharacterCode
    private(set) var entries: [[UInt8]] = []

    private static let largest = 8192
    private static let mostEntries: Int64 = 256

    init?(_ box: MP4Box, of source: any ByteSource) throws(Interruption) {
        guard var fields = MP4Fields(try box.bytes(of: source, limit: Self.largest)), let type = fields.code() else {
            return nil
        }
        self.type = type
        let length = fields.version == 1 ? fields.integer(UInt32.self) ?? 0 : 0
        if fields.version > 1 { fields.skip(4) }
        guard let count = fields.integer(UInt32.self) else { return }
        for _ in 0..<min(Int64(count), Self.mostEntries) {
            // Version 0 does not contain it; the entries that are used have one field of 16 bits.
            var size = fields.version == 0 ? 2 : Int64(length)
            if fields.version == 1, length == 0 {
                guard let own = fields.integer(UInt32.self) else { return }
                size = Int64(own)
            }
            guard size <= Int64(Self.largest), let entry = fields.bytes(Int(size)) else { return }
            entries.append(entry)
        }
    }
}
