extension EncodedBytesInput {
    /// The bytes from an offset to the tags at the end of the file.
    func bytesUntilTags(from first: Int64) throws(Interruption) -> EncodedBytes {
        bytes(from: first, to: try TrailingTags(of: file, length: end, base: 0).start)
    }
}
