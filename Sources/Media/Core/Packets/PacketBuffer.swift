/// The bytes of one packet, for containers whose packets may lie anywhere in the source.
///
/// Thread: only the decoder thread.
final class PacketBuffer {
    private var storage: UnsafeMutableRawBufferPointer

    /// The growth of the memory. It follows the bytes that are there, not the size that a header claims.
    private static let step = 65_536
    /// The largest packet that is accepted. A FLAC frame with 8 channels of 65,535 samples has 2 MB.
    static let mostBytes: Int64 = 4_194_304

    init() { storage = .allocate(byteCount: Self.step, alignment: 16) }

    deinit { storage.deallocate() }

    /// Reads a packet.
    /// - Parameters:
    ///   - count: at most `mostBytes`.
    ///   - prefix: bytes before those of the source.
    /// - Returns: its bytes, valid until the next call; nil when the source ends before.
    func fill(
        _ count: Int, from source: any ByteSource, at offset: Int64, prefix: [UInt8] = []
    ) throws(Interruption) -> UnsafeRawBufferPointer? {
        var filled = prefix.count
        let count = count + filled
        let offset = offset - Int64(filled)
        reserve(filled, keeping: 0)
        storage.copyBytes(from: prefix)
        while filled < count {
            let end = min(count, filled + Self.step)
            reserve(end, keeping: filled)
            let rest = UnsafeMutableRawBufferPointer(rebasing: storage[filled..<end])
            guard let got = try source.next(into: rest, at: offset + Int64(filled)) else { return nil }
            filled += got
        }
        return UnsafeRawBufferPointer(rebasing: storage[..<count])
    }

    private func reserve(_ count: Int, keeping filled: Int) {
        guard count > storage.count else { return }
        let larger = UnsafeMutableRawBufferPointer.allocate(byteCount: max(count, 2 * storage.count), alignment: 16)
        larger.copyMemory(from: UnsafeRawBufferPointer(rebasing: storage[..<filled]))
        storage.deallocate()
        storage = larger
    }
}
