/// Where the parts of a sealed file are (docs/decisions/sealed-chunks.md). Offsets and counts in bytes.
///
///     header: "TSC1", 16 random bytes
///     chunk 0, chunk 1, …: nonce (12), up to 65,536 bytes of ciphertext, tag (16)
///
/// Each chunk but the last one is full. A file of 0 bytes has one empty chunk.
public enum SealedLayout {
    /// The length of the plaintext of a full chunk.
    public static let chunkCount = 65_536
    /// The length of the file's header.
    public static let headerCount = 20
    /// How many bytes a chunk has besides its ciphertext.
    public static let overhead = AESGCM.nonceCount + AESGCM.tagCount
    /// The length of a full chunk in the file.
    public static let sealedChunkCount = chunkCount + overhead

    /// Returns the length of the sealed file of `plainCount` bytes; nil when that is negative or does not fit.
    public static func sealedCount(of plainCount: Int64) -> Int64? {
        guard let chunks = chunks(of: plainCount) else { return nil }
        let (all, overflow) = chunks.multipliedReportingOverflow(by: Int64(overhead))
        let (sum, overflow2) = plainCount.addingReportingOverflow(all)
        let (whole, overflow3) = sum.addingReportingOverflow(Int64(headerCount))
        return overflow || overflow2 || overflow3 ? nil : whole
    }

    /// Returns how many bytes a file of this length can contain: the inverse of `sealedCount`.
    public static func plainCount(inFileOf length: Int64) -> Int64 {
        let rest = (length - Int64(headerCount)) % Int64(sealedChunkCount)
        return fullChunks(inFileOf: length) * Int64(chunkCount) + max(0, rest - Int64(overhead))
    }

    /// Returns how many chunks hold `plainCount` bytes; nil when that is negative.
    public static func chunks(of plainCount: Int64) -> Int64? {
        guard plainCount >= 0 else { return nil }
        return plainCount == 0 ? 1 : (plainCount - 1) / Int64(chunkCount) + 1
    }

    /// Returns the offset of a chunk in the file; nil when it is negative or does not fit.
    public static func offset(ofChunk chunk: Int64) -> Int64? {
        guard chunk >= 0 else { return nil }
        let (bytes, overflow) = chunk.multipliedReportingOverflow(by: Int64(sealedChunkCount))
        let (offset, overflow2) = bytes.addingReportingOverflow(Int64(headerCount))
        return overflow || overflow2 ? nil : offset
    }

    /// Returns the chunk that contains the byte at `offset` of the plaintext, and the offset of that byte in the chunk.
    public static func chunk(at offset: Int64) -> (chunk: Int64, place: Int) {
        (offset / Int64(chunkCount), Int(offset % Int64(chunkCount)))
    }

    /// Returns how many full chunks a file of this length has; a writer can continue after them. The rest was torn, or
    /// was the last chunk.
    public static func fullChunks(inFileOf length: Int64) -> Int64 {
        max(0, (length - Int64(headerCount)) / Int64(sealedChunkCount))
    }
}
