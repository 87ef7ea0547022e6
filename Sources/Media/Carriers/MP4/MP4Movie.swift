/// The movie box (`moov`; ISO/IEC 14496-12, 8.2), as far as it is about sound.
struct MP4Movie {
    /// Units per second of durations.
    private(set) var timescale: Int64 = 1
    /// The tracks with sound.
    private(set) var tracks: [MP4Track] = []
    /// The number of tracks of all kinds.
    private(set) var trackCount = 0
    /// Whether fragments may follow.
    private(set) var isFragmented = false
    /// The duration with all fragments, in units of the movie (`mehd`).
    private(set) var fragmentedDuration: Int64?
    private(set) var tags: MP4Tags?
    private(set) var protectionSystems: [MP4ProtectionSystem] = []

    private static let mostTracks = 64
    private static let mostProtectionSystems = 16

    init(_ box: MP4Box, of source: any ByteSource) throws(Interruption) {
        var defaults: [(track: UInt32, MP4SampleDefaults)] = []
        var boxes = box.children(of: source)
        while let box = try boxes.next() {
            switch box.type {
            case "mvhd":
                var fields = MP4Fields(try box.bytes(of: source, limit: 24))
                fields?.skipTimes()
                timescale = max(1, Int64(fields?.integer(UInt32.self) ?? 1))
            case "trak" where trackCount < Self.mostTracks:
                trackCount += 1
                if let track = try MP4Track(box, of: source) { tracks.append(track) }
            case "mvex":
                isFragmented = true
                try readExtension(box, of: source, &defaults)
            case "udta":
                if let meta = try box.child("meta", of: source) { tags = try MP4Tags(meta, of: source) }
            case "meta":
                if tags == nil { tags = try MP4Tags(box, of: source) }
            case "pssh" where protectionSystems.count < Self.mostProtectionSystems:
                if let system = try MP4ProtectionSystem(box, of: source) { protectionSystems.append(system) }
            default: break
            }
        }
        for index in tracks.indices {
            if let found = defaults.first(where: { $0.track == tracks[index].id }) { tracks[index].defaults = found.1 }
        }
    }

    private mutating func readExtension(
        _ box: MP4Box, of source: any ByteSource, _ defaults: inout [(track: UInt32, MP4SampleDefaults)]
    ) throws(Interruption) {
        var boxes = box.children(of: source)
        while let box = try boxes.next() {
            guard var fields = MP4Fields(try box.bytes(of: source, limit: 24)) else { continue }
            switch box.type {
            case "mehd": fragmentedDuration = fields.time()
            case "trex" where defaults.count < Self.mostTracks:
                guard let track = fields.integer(UInt32.self), let index = fields.integer(UInt32.self),
                    let duration = fields.integer(UInt32.self), let size = fields.integer(UInt32.self)
                else { continue }
                defaults.append(
                    (
                        track,
                        MP4SampleDefaults(
                            descriptionIndex: Int64(index), duration: Int64(duration), size: Int64(size))
                    ))
            default: break
            }
        }
    }
}
