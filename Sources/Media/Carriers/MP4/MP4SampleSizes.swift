/// The sizes of samples in bytes (`stsz` and `stz2`; ISO/IEC 14496-12, 8.7.3).
struct MP4SampleSizes {
    /// The number of samples.
    let count: Int64

    /// The size of all samples, if they share one.
    private(set) var constant: Int64?
    private let bits: Int
    private var table: MP4Table

    /// Creates an empty table, for samples that are in fragments.
    init(_ source: any ByteSource) {
        count = 0
        constant = nil
        bits = 32
        table = MP4Table(source, count: 0, entrySize: 4, in: 0..<0)
    }

    init(_ box: MP4Box, of source: any ByteSource) throws(Interruption) {
        var fields = MP4Fields(try box.bytes(of: source, limit: 12))
        // stsz: one size for all or 0, stz2: 24 reserved bits and the bits of a size.
        guard let size = fields?.integer(UInt32.self), let claimed = fields?.integer(UInt32.self) else {
            throw .damaged(what: "MP4 with sample sizes that are cut off")
        }
        let isCompact = box.type == "stz2"
        bits = isCompact ? Int(size & 0xFF) : 32
        constant = !isCompact && size > 0 ? Int64(size) : nil
        guard bits == 4 || bits == 8 || bits == 16 || bits == 32 else {
            throw .damaged(what: "MP4 with sample sizes of \(bits) bits")
        }
        let perEntry: Int64 = bits == 4 ? 2 : 1
        table = MP4Table(
            source, count: (Int64(claimed) + perEntry - 1) / perEntry, entrySize: max(1, bits / 8),
            in: min(box.content.lowerBound + 12, box.end)..<box.end)
        count = constant == nil ? min(Int64(claimed), table.count * perEntry) : Int64(claimed)
    }

    /// Sets the size of a frame of PCM. Old QuickTime files contain 1 instead.
    mutating func setFrame(byteCount: Int) {
        if let size = constant, size < Int64(byteCount) { constant = Int64(byteCount) }
    }

    /// - Returns: nil after the last sample, and where the source ends.
    mutating func size(of sample: Int64) throws(Interruption) -> Int64? {
        guard sample >= 0, sample < count else { return nil }
        if let constant { return constant }
        guard bits == 4 else { return try table.field(sample, byteCount: bits / 8).map { Int64($0) } }
        guard let pair = try table.field(sample / 2, byteCount: 1) else { return nil }
        return Int64(sample % 2 == 0 ? pair >> 4 : pair & 0xF)
    }

    /// The size of `samples` together; nil when the source ends before them.
    mutating func sum(of samples: Range<Int64>) throws(Interruption) -> Int64? {
        if let constant {
            let (sum, isBeyond) = constant.multipliedReportingOverflow(by: samples.upperBound - samples.lowerBound)
            return isBeyond ? nil : sum
        }
        var sum: Int64 = 0
        for sample in samples {
            guard let size = try size(of: sample) else { return nil }
            sum += size
        }
        return sum
    }
}
