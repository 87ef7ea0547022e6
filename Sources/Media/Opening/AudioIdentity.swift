import Crypto
import PCM

/// Identifies the sound of a file, whatever its name, its tags and its pictures (docs/decisions/audio-identity.md).
///
/// It is a hash of the number of the encoded bytes, and of three samples of them. Tags around them do not count.
///
/// Thread: any that may block in the source.
package enum AudioIdentity {
    private static let pageSize = 4096

    /// Returns the identity, which is never 0.
    /// - Parameters:
    ///   - source: a file whose length is known.
    ///   - properties: of its decoder.
    package static func of(_ source: any ByteSource, _ properties: AudioProperties) throws(ByteSourceError) -> Int64 {
        let whole = EncodedBytes(range: 0..<max(0, source.length ?? 0))
        let extent: EncodedBytes
        do throws(Interruption) { extent = try find(source, properties, whole) } catch {
            if case .failed(.source(let error)) = error { throw error }
            extent = whole
        }
        do throws(Interruption) { return try hash(source, extent, properties) } catch {
            if case .failed(.source(let error)) = error { throw error }
            throw .cancelled
        }
    }

    private static func hash(
        _ source: any ByteSource, _ extent: EncodedBytes, _ properties: AudioProperties
    ) throws(Interruption) -> Int64 {
        let range = extent.range
        // Not `count`, which is an `Int`.
        let length = range.upperBound - range.lowerBound
        let count = extent.frameCount ?? length
        var bytes = Array(properties.codec.rawValue.utf8) + (0..<8).map { UInt8(truncatingIfNeeded: count >> (8 * $0)) }
        var starts = [range.lowerBound]
        if length > 3 * EncodedBytes.sampleSize {
            starts += [range.lowerBound + length / 2, range.upperBound - EncodedBytes.sampleSize]
        }
        let size = starts.count == 1 ? min(length, 3 * EncodedBytes.sampleSize) : EncodedBytes.sampleSize
        for start in starts {
            var sample = try SourceReader(source).bytes(Int(size), at: start)
            if extent.isOgg { hidePageNumbers(&sample, isMiddle: start > range.lowerBound) }
            bytes += sample
        }
        guard let digest = try? SHA256.hash(bytes) else { preconditionFailure("SHA-256 without memory") }
        let hash = digest[..<8].reduce(0) { $0 << 8 | Int64($1) }
        return hash == 0 ? 1 : hash
    }

    /// Clears the serials, sequence numbers and checksums of pages: programs that write tags change them.
    private static func hidePageNumbers(_ sample: inout [UInt8], isMiddle: Bool) {
        var offset = 0
        while offset + 4 <= sample.count {
            if sample[offset] == 0x4F, sample[offset + 1] == 0x67, sample[offset + 2] == 0x67,
                sample[offset + 3] == 0x53
            {
                for byte in (offset + 14)..<(offset + 26) where byte < sample.count { sample[byte] = 0 }
            }
            offset += 1
        }
        // The rest of a header that begins before the sample.
        if isMiddle { sample.removeFirst(min(26, sample.count)) }
    }

    /// Finds the encoded bytes.
    private static func find(
        _ source: any ByteSource, _ properties: AudioProperties, _ whole: EncodedBytes
    ) throws(Interruption) -> EncodedBytes {
        guard let format = FormatTable.all.format(of: properties.container) else { return whole }
        let paged = PagedSource(source, pageSize: pageSize)
        let input = EncodedBytesInput(
            file: paged, start: try MPEGTags.end(of: paged, at: 0), end: whole.range.upperBound,
            properties: properties)
        return try format.encodedBytes(input) ?? whole
    }
}
