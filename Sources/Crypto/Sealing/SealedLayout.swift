/// Where the parts of a sealed file are (docs/decisions/sealed-chunks.md). Offsets and counts in bytes.
///
///     header: "TSC1", 16 random bytes
///     chunk 0, chunk 1, …: nonce (12), up to 65,536 bytes of ciphertext, tag (16)
///
/// Each chunk but the last one is full. A file of 0 bytes has one empty chunk.
public enum SealedLayout {
    /// Of the plaintext of a full chunk.
    public static let chunkCount = 65_536
    /// Of the file's first part.
    public static let headerCount = 20
    /// How many bytes a chunk has beside its ciphertext.
    public static let overhead = AESGCM.nonceCount + AESGCM.tagCount
    /// Of a full chunk in the file.
    public static let sealedChunkCount = chunkCount + overhead

    /// The length of the sealed file of so many bytes; nil when that is negative or does not fit.
    public static func sealedCount(of plainCount: Int64) -> Int64? {
        guard let chunks = chunks(of: plainCount) else { return nil }
        let (all, overflow) = chunks.multipliedReportingOverflow(by: Int64(overhead))
        let (sum, overflow2) = plainCount.addingReportingOverflow(all)
        let (whole, overflow3) = sum.addingReportingOverflow(Int64(headerCount))
        return overflow || overflow2 || overflow3 ? nil : whole
    }

    /// How many bytes a file of this length can contain: the inverse of `sealedCount`.
    public static func plainCount(inFileOf length: Int64) -> Int64 {
        let rest = (length - Int64(headerCount)) % Int64(sealedChunkCount)
        return fullChunks(inFileOf: length) * Int64(chunkCount) + max(0, rest - Int64(overhead))
    }

    /// How many chunks so many bytes have; nil when that is negative.
    public static func chunks(of plainCount: Int64) -> Int64? {
        guard plainCount >= 0 else { return nil }
        return plainCount == 0 ? 1 : (plainCount - 1) / Int64(chunkCount) + 1
    }

    /// Where a chunk begins in the file; nil when it is negative or does not fit.
    public static func offset(ofChunk chunk: Int64) -> Int64? {
        guard chunk >= 0 else { return nil }
        let (bytes, overflow) = chunk.multipliedReportingOverflow(by: Int64(sealedChunkCount))
        let (offset, overflow2) = bytes.addingReportingOverflow(Int64(headerCount))
        return overflow || overflow2 ? nil : offset
    }

    /// The chunk that has the byte `offset` of the plaintext, and the place of that byte in it.
    public static func chunk(at offset: Int64) -> (chunk: Int64, place: Int) {
        (offset / Int64(chunkCount), Int(offset % Int64(chunkCount)))
    }

    /// How many full chunks a file of this length has: what can be continued after an interruption. The rest was torn,
    /// or was the last chunk.
    public static func fullChunks(inFileOf length: Int64) -> Int64 {
        max(0, (length - Int64(headerCount)) / Int64(sealedChunkCount))
    }
}
