/// The size of the encryption data of each sample (`saiz`; ISO/IEC 14496-12, 8.7.8).
struct MP4KeySizes {
    /// The size for all samples; 0 when `table` has one for each.
    let common: Int64
    private var table: MP4Table

    /// No sizes.
    init(of source: any ByteSource) {
        common = 0
        table = MP4Table(source, count: 0, entrySize: 1, in: 0..<0)
    }

    /// - Parameter box: a box `saiz`.
    /// - Returns: nil when its fields are missing.
    init?(_ box: MP4Box, of source: any ByteSource) throws(Interruption) {
        guard var fields = MP4Fields(try box.bytes(of: source, limit: 17)) else { return nil }
        // The type of the data and its parameter.
        let optional = fields.flags & 1 != 0 ? 8 : 0
        fields.skip(optional)
        guard let common = fields.integer(UInt8.self), let count = fields.integer(UInt32.self) else { return nil }
        self.common = Int64(common)
        let first = box.content.lowerBound + 9 + Int64(optional)
        table = MP4Table(source, count: Int64(count), entrySize: 1, in: min(first, box.end)..<box.end)
    }

    /// The size for a sample; 0 when it has no data.
    mutating func size(of sample: Int64) throws(Interruption) -> Int64 {
        common > 0 ? common : Int64(try table.field(sample, byteCount: 1) ?? 0)
    }
}

/// Where the encryption data of the samples begins: at one offset, or at one for each run of them (`saio`; ISO/IEC
/// 14496-12, 8.7.9).
struct MP4KeyOffsets {
    /// The offset of the first sample's data; nil when there is none.
    private(set) var first: Int64?
    private var table: MP4Table
    private let entrySize: Int
    /// The offset to which those in the table are relative.
    private let base: Int64

    /// Without a table.
    init(_ first: Int64?, of source: any ByteSource) {
        self.first = first
        table = MP4Table(source, count: 0, entrySize: 1, in: 0..<0)
        entrySize = 4
        base = 0
    }

    /// - Parameter box: a box `saio`.
    /// - Returns: nil when its fields are missing.
    init?(_ box: MP4Box, of source: any ByteSource, base: Int64) throws(Interruption) {
        guard var fields = MP4Fields(try box.bytes(of: source, limit: 16)) else { return nil }
        let optional = fields.flags & 1 != 0 ? 8 : 0
        fields.skip(optional)
        guard let count = fields.integer(UInt32.self) else { return nil }
        self.base = base
        entrySize = fields.version > 0 ? 8 : 4
        let first = box.content.lowerBound + 8 + Int64(optional)
        table = MP4Table(source, count: Int64(count), entrySize: entrySize, in: min(first, box.end)..<box.end)
        self.first = try start(ofRun: 0)
    }

    /// Whether each run has its own offset.
    var isByRun: Bool { table.count > 1 }

    /// The offset of the first data of a run, a chunk or a fragment run; nil when the table does not have it.
    mutating func start(ofRun run: Int64) throws(Interruption) -> Int64? {
        guard let offset = try table.field(run, byteCount: entrySize), offset <= UInt64(AudioLimits.largestData) else {
            return nil
        }
        return base + Int64(offset)
    }
}
