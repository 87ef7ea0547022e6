/// The samples of one track in a movie fragment (`traf`; ISO/IEC 14496-12, 8.8.6 to 8.8.8 and 8.8.12), in order. A
/// value that moves through them.
struct MP4TrackFragment {
    /// A fragment of a minute has one. More would take memory that a board does not have.
    private static let mostRuns = 4096

    /// The media time of the next sample; nil when it is that of the end of the fragment before.
    var time: Int64?

    private var runs: MP4RunSequence
    private var keys: MP4SampleKeys
    private var descriptionIndex: Int64
    /// How many samples of the fragment are before the next one.
    private var sample: Int64 = 0
    /// The offset of the next sample.
    private var offset: Int64
    private var keyOffset: Int64?

    private enum HeaderFlag {
        static let baseDataOffset: UInt32 = 0x1
        static let descriptionIndex: UInt32 = 0x2
        static let defaultDuration: UInt32 = 0x8
        static let defaultSize: UInt32 = 0x10
    }

    /// - Parameters:
    ///   - box: a box `traf`.
    ///   - fragmentOffset: of the movie fragment around it.
    /// - Returns: nil for another track.
    init?(
        _ box: MP4Box, of source: any ByteSource, fragmentOffset: Int64, track: MP4Track
    ) throws(Interruption) {
        var defaults = track.defaults
        // Without a base the offset counts from the movie fragment. For a second track in an old file it counts from
        // the end of the first one's data, which no file of today relies on.
        var base = fragmentOffset
        var isOfTrack = false
        var runs: [MP4Run] = []
        var keyBoxes = MP4KeyBoxes()
        var boxes = box.children(of: source)
        while let box = try boxes.next() {
            switch box.type {
            case "tfhd":
                guard var fields = MP4Fields(try box.bytes(of: source, limit: 64)),
                    fields.integer(UInt32.self) == track.id
                else { return nil }
                isOfTrack = true
                if fields.flags & HeaderFlag.baseDataOffset != 0, let offset = fields.integer(UInt64.self) {
                    base = Int64(min(offset, UInt64(AudioLimits.largestData)))
                }
                if fields.flags & HeaderFlag.descriptionIndex != 0 {
                    defaults.descriptionIndex = Int64(fields.integer(UInt32.self) ?? 1)
                }
                if fields.flags & HeaderFlag.defaultDuration != 0 {
                    defaults.duration = Int64(fields.integer(UInt32.self) ?? 0)
                }
                if fields.flags & HeaderFlag.defaultSize != 0 {
                    defaults.size = Int64(fields.integer(UInt32.self) ?? 0)
                }
            case "tfdt":
                var fields = MP4Fields(try box.bytes(of: source, limit: 12))
                time = fields?.time()
            case "trun" where isOfTrack:
                guard runs.count < Self.mostRuns else { continue }
                if let run = try MP4Run(box, of: source, base: base, defaults) { runs.append(run) }
            default: keyBoxes.add(box)
            }
        }
        guard isOfTrack else { return nil }
        self.runs = MP4RunSequence(runs)
        offset = base
        descriptionIndex = defaults.descriptionIndex
        keys = try MP4SampleKeys(
            keyBoxes, of: source, base: base, entries: track.entries, groups: track.table.groupParameters)
    }

    /// The next sample; nil at the end of the fragment, and where its tables end.
    mutating func next() throws(Interruption) -> MP4Sample? {
        runs.skipEnded()
        guard let time else { return nil }
        if runs.sample == 0, let start = runs.current?.offset { offset = start }
        guard let (size, duration) = try runs.sizeAndDuration(),
            offset >= 0, offset <= AudioLimits.largestData, time + duration <= AudioLimits.largestTime
        else { return nil }
        let encryption = try keys.encryption(
            of: sample, descriptionIndex: descriptionIndex, run: Int64(runs.number), isFirstOfRun: runs.sample == 0,
            at: &keyOffset)
        defer {
            self.time = time + duration
            offset += size
            sample += 1
            runs.advance()
        }
        return MP4Sample(offset: offset, size: size, time: time, duration: duration, encryption: encryption)
    }
}

/// The properties of samples in fragments that do not have their own (`trex`, `tfhd`).
struct MP4SampleDefaults {
    /// The number of the sample description, from 1.
    var descriptionIndex: Int64 = 1
    var duration: Int64 = 0
    var size: Int64 = 0
}

/// The runs of a fragment, and the next sample in them. Only its run changes, so that a copy does not copy all runs.
private struct MP4RunSequence {
    private let runs: [MP4Run]
    /// The number of the next sample's run.
    private(set) var number = 0
    /// That run; nil at the end.
    private(set) var current: MP4Run?
    /// How many samples of the run are before the next one.
    private(set) var sample: Int64 = 0

    init(_ runs: [MP4Run]) {
        self.runs = runs
        current = runs.first
    }

    /// Moves past the runs without another sample.
    mutating func skipEnded() {
        while let count = current?.count, sample >= count {
            number += 1
            current = number < runs.count ? runs[number] : nil
            sample = 0
        }
    }

    /// The properties of the next sample; nil at the end, and where the source ends.
    mutating func sizeAndDuration() throws(Interruption) -> (Int64, Int64)? {
        guard let size = try current?.size(of: sample), let duration = try current?.duration(of: sample) else {
            return nil
        }
        return (size, duration)
    }

    mutating func advance() { sample += 1 }
}

/// A run of samples with their data one after the other (`trun`).
struct MP4Run {
    let count: Int64
    /// The offset of the first sample; nil: directly after the run before.
    let offset: Int64?

    private let defaults: MP4SampleDefaults
    private var table: MP4Table
    /// The offset of each field in an entry; nil when the entries do not have it.
    private let durationPlace: Int?
    private let sizePlace: Int?

    private enum Flag {
        static let dataOffset: UInt32 = 0x1
        static let firstSampleFlags: UInt32 = 0x4
        static let duration: UInt32 = 0x100
        static let size: UInt32 = 0x200
        static let sampleFlags: UInt32 = 0x400
        static let compositionOffset: UInt32 = 0x800
    }

    /// The most samples of a run without entries: with AAC more than six hours.
    private static let mostWithoutEntries: Int64 = 1_048_576

    /// - Returns: nil when its fields are missing.
    init?(
        _ box: MP4Box, of source: any ByteSource, base: Int64, _ defaults: MP4SampleDefaults
    ) throws(Interruption) {
        guard var fields = MP4Fields(try box.bytes(of: source, limit: 16)), let claimed = fields.integer(UInt32.self)
        else { return nil }
        var headerSize: Int64 = 8
        var offset: Int64?
        if fields.flags & Flag.dataOffset != 0 {
            offset = base + Int64(Int32(bitPattern: fields.integer(UInt32.self) ?? 0))
            headerSize += 4
        }
        if fields.flags & Flag.firstSampleFlags != 0 { headerSize += 4 }
        self.offset = offset
        self.defaults = defaults
        var entrySize = 0
        func place(_ flag: UInt32) -> Int? {
            guard fields.flags & flag != 0 else { return nil }
            entrySize += 4
            return entrySize - 4
        }
        durationPlace = place(Flag.duration)
        sizePlace = place(Flag.size)
        _ = place(Flag.sampleFlags)
        _ = place(Flag.compositionOffset)
        table = MP4Table(
            source, count: Int64(claimed), entrySize: max(1, entrySize),
            in: min(box.content.lowerBound + headerSize, box.end)..<box.end)
        count = entrySize > 0 ? table.count : min(Int64(claimed), Self.mostWithoutEntries)
    }

    /// - Returns: nil where the source ends.
    mutating func duration(of sample: Int64) throws(Interruption) -> Int64? {
        guard let durationPlace else { return defaults.duration }
        return try table.field(sample, at: durationPlace).map { Int64($0) }
    }

    mutating func size(of sample: Int64) throws(Interruption) -> Int64? {
        guard let sizePlace else { return defaults.size }
        return try table.field(sample, at: sizePlace).map { Int64($0) }
    }
}
