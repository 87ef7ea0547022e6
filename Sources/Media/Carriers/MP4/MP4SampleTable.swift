/// The samples that a track describes in its movie box (`stbl`; ISO/IEC 14496-12, 8.5 to 8.7). Its tables are read as
/// far as they are needed.
struct MP4SampleTable {
    private var sizes: MP4SampleSizes
    /// `stts`: runs of samples with one duration.
    private var durations: MP4Table
    /// `stsc`: runs of chunks with the same number of samples.
    private var chunks: MP4Table
    /// `stco`, `co64`
    private var offsets: MP4Table
    private let offsetSize: Int
    private var keys: MP4SampleKeys

    /// The position of a sample. A value, so that a step that is interrupted has no effect.
    struct Position {
        var sample: Int64 = 0
        var time: Int64 = 0
        fileprivate var durationEntry: Int64 = 0
        /// How many samples of that entry lie before this one.
        fileprivate var samplesOfEntry: Int64 = 0
        fileprivate var chunkEntry: Int64 = 0
        fileprivate var chunk: Int64 = 0
        fileprivate var sampleOfChunk: Int64 = 0
        /// The bytes of the chunk's samples before this one.
        fileprivate var bytesOfChunk: Int64 = 0
        fileprivate var keyOffset: Int64?
    }

    /// - Parameter entries: the descriptions of the track's samples.
    init(_ box: MP4Box, of source: any ByteSource, _ entries: [MP4SampleEntry]) throws(Interruption) {
        func table(_ box: MP4Box, entrySize: Int) throws(Interruption) -> MP4Table {
            var fields = MP4Fields(try box.bytes(of: source, limit: 8))
            let count = fields?.integer(UInt32.self) ?? 0
            return MP4Table(
                source, count: Int64(count), entrySize: entrySize,
                in: min(box.content.lowerBound + 8, box.end)..<box.end)
        }
        let none = MP4Table(source, count: 0, entrySize: 1, in: 0..<0)
        sizes = MP4SampleSizes(source)
        durations = none
        chunks = none
        offsets = none
        var offsetSize = 4
        var keyBoxes = MP4KeyBoxes()
        var boxes = box.children(of: source)
        while let box = try boxes.next() {
            switch box.type {
            case "stsz", "stz2": sizes = try MP4SampleSizes(box, of: source)
            case "stts": durations = try table(box, entrySize: 8)
            case "stsc": chunks = try table(box, entrySize: 12)
            case "stco": offsets = try table(box, entrySize: 4)
            case "co64":
                offsets = try table(box, entrySize: 8)
                offsetSize = 8
            default: keyBoxes.add(box)
            }
        }
        if case .pcm(let description)? = entries.first?.codec { sizes.setFrame(byteCount: description.bytesPerFrame) }
        self.offsetSize = offsetSize
        keys = try MP4SampleKeys(keyBoxes, of: source, base: 0, entries: entries, groups: nil)
    }

    /// The sample at `position`, which moves to the next one.
    /// - Parameter mostBytes: samples of one size, side by side, count as one up to this size.
    /// - Returns: nil after the last sample, and where the tables end or contradict each other.
    mutating func next(_ position: inout Position, joining mostBytes: Int64 = 0) throws(Interruption) -> MP4Sample? {
        guard let size = try sizes.size(of: position.sample) else { return nil }
        var place = position
        guard let descriptionIndex = try chunk(of: &place), let duration = try duration(at: &place),
            let start = try offsets.field(place.chunk, byteCount: offsetSize),
            start <= UInt64(AudioLimits.largestData), place.bytesOfChunk <= AudioLimits.largestData,
            place.time + duration <= AudioLimits.largestTime
        else { return nil }
        var sample = MP4Sample(
            offset: Int64(start) + place.bytesOfChunk, size: size, time: place.time, duration: duration)
        sample.encryption = try keys.encryption(
            of: place.sample, descriptionIndex: descriptionIndex, run: place.chunk,
            isFirstOfRun: place.sampleOfChunk == 0, at: &place.keyOffset)
        var count: Int64 = 1
        if mostBytes > 0, sample.encryption == nil, sizes.constant != nil {
            count = max(1, min(try samplesLeft(place), mostBytes / size))
            let (length, isBeyond) = duration.multipliedReportingOverflow(by: count)
            if isBeyond || length > AudioLimits.largestTime - place.time { count = 1 }
            sample.size *= count
            sample.duration *= count
        }
        place.sample += count
        place.time += sample.duration
        place.samplesOfEntry += count
        place.sampleOfChunk += count
        place.bytesOfChunk += sample.size
        position = place
        return sample
    }

    /// The number of samples from `place` on that are side by side and have one duration.
    private mutating func samplesLeft(_ place: Position) throws(Interruption) -> Int64 {
        let ofChunk = Int64(try chunks.field(place.chunkEntry, at: 4) ?? 1) - place.sampleOfChunk
        let ofEntry = Int64(try durations.field(place.durationEntry) ?? 1) - place.samplesOfEntry
        return min(sizes.count - place.sample, ofChunk, ofEntry)
    }

    /// The parameters of its key groups, for the fragments of the track.
    var groupParameters: [MP4KeyParameters] { keys.groupParameters }

    /// The number of samples.
    var count: Int64 { sizes.count }

    /// The duration of the first sample.
    mutating func firstDuration() throws(Interruption) -> Int64 {
        Int64(try durations.field(0, at: 4) ?? 0)
    }

    /// The time at which the last sample ends.
    mutating func endTime() throws(Interruption) -> Int64 { try position(atTime: .max).time }

    /// The time of a sample; that of the end for a number after the last one.
    mutating func time(ofSample number: Int64) throws(Interruption) -> Int64 {
        var (rest, time, entry): (Int64, Int64, Int64) = (min(max(0, number), sizes.count), 0, 0)
        while rest > 0, let claimed = try durations.field(entry), let duration = try durations.field(entry, at: 4) {
            let count = min(rest, Int64(claimed))
            let (length, isBeyond) = count.multipliedReportingOverflow(by: Int64(duration))
            guard !isBeyond, length <= AudioLimits.largestTime - time else { break }
            rest -= count
            time += length
            entry += 1
        }
        return time
    }

    /// The position of the sample that is played at `time`; after the last one when there is none.
    mutating func position(atTime time: Int64) throws(Interruption) -> Position {
        var position = try sample(atTime: time)
        guard position.sample < sizes.count else { return position }
        position.sampleOfChunk = position.sample
        while let first = try chunks.field(position.chunkEntry),
            let perChunk = try chunks.field(position.chunkEntry, at: 4),
            let description = try chunks.field(position.chunkEntry, at: 8)
        {
            let next = try chunks.field(position.chunkEntry + 1) ?? UInt64(offsets.count) + 1
            guard first > 0, next > first, perChunk > 0 else { break }
            position.chunk = Int64(first) - 1
            let inChunks = Int64(next - first).multipliedReportingOverflow(by: Int64(perChunk))
            if inChunks.overflow || position.sampleOfChunk < inChunks.partialValue {
                position.chunk += position.sampleOfChunk / Int64(perChunk)
                position.sampleOfChunk %= Int64(perChunk)
                let chunkStart = position.sample - position.sampleOfChunk
                guard let bytes = try sizes.sum(of: chunkStart..<position.sample) else { break }
                position.bytesOfChunk = bytes
                position.keyOffset = try keys.offset(
                    of: position.sample, descriptionIndex: Int64(description), run: position.chunk,
                    firstOfRun: chunkStart)
                return position
            }
            position.sampleOfChunk -= inChunks.partialValue
            position.chunkEntry += 1
        }
        position.sample = sizes.count
        return position
    }

    /// The sample at `time`, without its chunk.
    private mutating func sample(atTime time: Int64) throws(Interruption) -> Position {
        var position = Position()
        while position.sample < sizes.count {
            let rest = sizes.count - position.sample
            guard let claimed = try durations.field(position.durationEntry),
                let duration = try durations.field(position.durationEntry, at: 4)
            else { break }
            let count = min(rest, Int64(claimed))
            let (length, isBeyond) = count.multipliedReportingOverflow(by: Int64(duration))
            guard !isBeyond, length <= AudioLimits.largestTime - position.time else { break }
            if time < position.time + length {
                position.samplesOfEntry = max(0, time - position.time) / Int64(duration)
                position.sample += position.samplesOfEntry
                position.time += position.samplesOfEntry * Int64(duration)
                return position
            }
            position.sample += count
            position.time += length
            position.durationEntry += 1
        }
        position.sample = sizes.count
        return position
    }

    /// Moves `position` to the chunk that has its sample.
    /// - Returns: the index of its description.
    private mutating func chunk(
        of position: inout Position
    ) throws(Interruption) -> Int64? {
        while position.chunk < offsets.count {
            if let next = try chunks.field(position.chunkEntry + 1), Int64(next) <= position.chunk + 1 {
                position.chunkEntry += 1
                continue
            }
            guard let samples = try chunks.field(position.chunkEntry, at: 4), samples > 0,
                let description = try chunks.field(position.chunkEntry, at: 8)
            else { return nil }
            if position.sampleOfChunk < Int64(samples) { return Int64(description) }
            position.chunk += 1
            position.sampleOfChunk = 0
            position.bytesOfChunk = 0
        }
        return nil
    }

    /// The duration of the sample at `position`; nil when the table has none.
    private mutating func duration(at position: inout Position) throws(Interruption) -> Int64? {
        while let count = try durations.field(position.durationEntry), position.samplesOfEntry >= Int64(count) {
            position.durationEntry += 1
            position.samplesOfEntry = 0
        }
        return try durations.field(position.durationEntry, at: 4).map { Int64($0) }
    }
}
