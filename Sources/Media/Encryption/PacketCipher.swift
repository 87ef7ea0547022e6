import Crypto

/// Decrypts packets in place (ISO/IEC 23001-7, 9 and 10).
enum PacketCipher {
    private static let blockSize = 16

    /// - Parameters:
    ///   - bytes: a whole packet.
    ///   - key: 16 bytes.
    /// - Throws: `.damaged` when the subsamples do not fit the packet, or a vector or the key has a wrong length.
    static func decrypt(
        _ bytes: UnsafeMutableRawBufferPointer, _ encryption: PacketEncryption, key: borrowing SecretBytes
    ) throws(Interruption) {
        var subsamples = encryption.subsamples
        if subsamples.isEmpty { subsamples = [.init(plainBytes: 0, encryptedBytes: bytes.count)] }
        guard fits(subsamples, bytes.count) else { throw damaged }
        do throws(CryptoError) {
            switch encryption.scheme {
            case .cenc, .cens: try decryptCounter(bytes, encryption, subsamples, key)
            case .cbc1, .cbcs: try decryptChain(bytes, encryption, subsamples, key)
            }
        } catch {
            throw damaged
        }
    }

    private static let damaged = Interruption.damaged(what: "MP4 with encryption data that does not fit its packet")

    private static func fits(_ subsamples: [PacketEncryption.Subsample], _ count: Int) -> Bool {
        var rest = count
        for subsample in subsamples {
            guard 0...rest ~= subsample.plainBytes else { return false }
            rest -= subsample.plainBytes
            guard 0...rest ~= subsample.encryptedBytes else { return false }
            rest -= subsample.encryptedBytes
        }
        return true
    }

    /// One key stream for all encrypted bytes of the packet.
    private static func decryptCounter(
        _ bytes: UnsafeMutableRawBufferPointer, _ encryption: PacketEncryption,
        _ subsamples: [PacketEncryption.Subsample], _ key: borrowing SecretBytes
    ) throws(CryptoError) {
        let vector = encryption.initializationVector
        let zeros = [UInt8](repeating: 0, count: max(0, blockSize - vector.count))
        var stream = KeyStream(counter: vector + zeros)
        var cipher = try AESCTR(key: key, initialCounter: vector + zeros)
        var start = 0
        for subsample in subsamples {
            start += subsample.plainBytes
            let run = UnsafeMutableRawBufferPointer(rebasing: bytes[start..<(start + subsample.encryptedBytes)])
            start += subsample.encryptedBytes
            if encryption.scheme == .cenc {
                try stream.decrypt(run, &cipher, key)
                continue
            }
            var pattern = Pattern(encryption, run.count)
            while let part = pattern.next() {
                try stream.decrypt(UnsafeMutableRawBufferPointer(rebasing: run[part]), &cipher, key)
            }
        }
    }

    /// Counts as ISO/IEC 23001-7, 9.2 requires: bytes 8 to 15 wrap without a carry. AES-CTR would carry.
    private struct KeyStream {
        private let start: [UInt8]
        /// The bytes until the counter wraps; `.max` when a packet cannot be so long.
        private var left: Int

        init(counter: [UInt8]) {
            start = Array(counter[..<8])
            let blocks = 0 &- counter[8...].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
            left = blocks == 0 || blocks > 1 << 24 ? .max : Int(blocks) * blockSize
        }

        mutating func decrypt(
            _ bytes: UnsafeMutableRawBufferPointer, _ cipher: inout AESCTR, _ key: borrowing SecretBytes
        ) throws(CryptoError) {
            let count = min(bytes.count, left)
            try cipher.process(UnsafeMutableRawBufferPointer(rebasing: bytes[..<count]))
            if left == .max { return }
            left -= count
            guard left == 0 else { return }
            cipher = try AESCTR(key: key, initialCounter: start + [UInt8](repeating: 0, count: 8))
            left = .max
            try cipher.process(UnsafeMutableRawBufferPointer(rebasing: bytes[count...]))
        }
    }

    /// Decrypts whole blocks; the rest of a run is plain. The chain of `cbc1` continues through the packet, that of
    /// `cbcs` restarts with each subsample.
    private static func decryptChain(
        _ bytes: UnsafeMutableRawBufferPointer, _ encryption: PacketEncryption,
        _ subsamples: [PacketEncryption.Subsample], _ key: borrowing SecretBytes
    ) throws(CryptoError) {
        var cipher = try AESCBC(.decrypt, key: key, initializationVector: chainVector(encryption))
        var start = 0
        for (index, subsample) in subsamples.enumerated() {
            start += subsample.plainBytes
            let run = UnsafeMutableRawBufferPointer(rebasing: bytes[start..<(start + subsample.encryptedBytes)])
            start += subsample.encryptedBytes
            if encryption.scheme == .cbc1 {
                try cipher.process(UnsafeMutableRawBufferPointer(rebasing: run[..<(run.count & ~(blockSize - 1))]))
                continue
            }
            if index > 0 {
                cipher = try AESCBC(.decrypt, key: key, initializationVector: chainVector(encryption))
            }
            var pattern = Pattern(encryption, run.count)
            while let part = pattern.next() {
                try cipher.process(UnsafeMutableRawBufferPointer(rebasing: run[part]))
            }
        }
    }

    /// A constant vector of 8 bytes is followed by zeros.
    private static func chainVector(_ encryption: PacketEncryption) -> [UInt8] {
        let vector = encryption.initializationVector
        return vector + [UInt8](repeating: 0, count: max(0, blockSize - vector.count))
    }

    /// The encrypted parts of a run: whole blocks, so many of them encrypted and so many plain in turn.
    private struct Pattern {
        private let encrypted: Int
        private let plain: Int
        private let end: Int
        private var offset = 0

        init(_ encryption: PacketEncryption, _ count: Int) {
            end = count & ~(blockSize - 1)
            let isWhole = encryption.encryptedBlocks <= 0
            encrypted = isWhole ? end : encryption.encryptedBlocks * blockSize
            plain = isWhole ? 0 : max(0, encryption.plainBlocks) * blockSize
        }

        mutating func next() -> Range<Int>? {
            guard offset < end else { return nil }
            let start = offset
            let stop = min(end, start + encrypted)
            offset = min(end, stop + plain)
            return start..<stop
        }
    }
}
