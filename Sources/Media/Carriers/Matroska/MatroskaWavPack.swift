/// How Matroska stores WavPack ("Matroska Codec Mappings", A_WAVPACK4).
///
/// A packet has the number of frames, and for each block its flags, the checksum of its samples and its data. If there
/// are several blocks, the size of the data is stored before it. The rest of the headers is left out.
struct MatroskaWavPack {
    /// The version of the stream.
    private let version: UInt16

    private static let usualVersion: UInt16 = 0x410

    /// - Parameter header: the private data of the codec.
    init(_ header: [UInt8]) {
        var reader = ByteReader(header)
        version = reader.littleEndian(UInt16.self) ?? Self.usualVersion
    }

    /// Frames of a packet, by its first bytes.
    static func frameCount(of head: UnsafeRawBufferPointer) -> Int64 {
        guard head.count >= 4 else { return 0 }
        let count = UInt32(littleEndian: head.loadUnaligned(as: UInt32.self))
        return count <= WavPackHeader.mostFrames ? Int64(count) : 0
    }

    /// The blocks of a packet, with their headers; nil for a packet that is damaged.
    fileprivate func blocks(of packet: UnsafeRawBufferPointer) -> [UInt8]? {
        func word(_ offset: Int) -> UInt32 {
            UInt32(littleEndian: packet.loadUnaligned(fromByteOffset: offset, as: UInt32.self))
        }
        guard packet.count > 12 else { return nil }
        let isSingle = word(4) & 0x1800 == 0x1800
        let fieldSize = isSingle ? 8 : 12
        var blocks: [UInt8] = []
        blocks.reserveCapacity(packet.count + WavPackHeader.size)
        var offset = 4
        while offset < packet.count {
            guard offset + fieldSize <= packet.count else { return nil }
            let size = isSingle ? packet.count - 12 : Int(clamping: word(offset + 8))
            let start = offset + fieldSize
            guard size <= packet.count - start else { return nil }
            func append(_ value: UInt32) {
                for shift in stride(from: 0, to: 32 as UInt32, by: 8) {
                    blocks.append(UInt8(truncatingIfNeeded: value >> shift))
                }
            }
            blocks += Array("wvpk".utf8)
            append(UInt32(WavPackHeader.size - 8 + size))
            // The version, and the upper parts of numbers.
            append(UInt32(version))
            // The total is not known, and each packet begins at frame 0.
            append(.max)
            append(0)
            append(word(0))
            append(word(offset))
            append(word(offset + 4))
            blocks += packet[start..<(start + size)]
            offset = start + size
        }
        return blocks
    }
}

/// The packets of WavPack in Matroska, as whole blocks.
///
/// Thread: only the decoder thread.
final class MatroskaWavPackPackets: TimedPacketSource {
    let setup: WavPackSetup
    private let packets: any TimedPacketSource
    private let storage: MatroskaWavPack
    private let buffer = OggPacketBuffer()

    /// The most packets that are searched for one that is not damaged.
    private static let testedPackets = 16

    /// - Parameter packets: at the first packet; moved by the call.
    init(_ packets: any TimedPacketSource, _ storage: MatroskaWavPack) throws(Interruption) {
        self.packets = packets
        self.storage = storage
        var setup: WavPackSetup?
        for _ in 0..<Self.testedPackets where setup == nil {
            guard let packet = try packets.nextPacket() else { break }
            let blocks = storage.blocks(of: packet.bytes) ?? []
            setup = blocks.withUnsafeBytes { WavPackLibrary($0)?.setup }
        }
        guard let setup else { throw .damaged(what: "WavPack without a block that can be decoded") }
        self.setup = setup
    }

    var isCutShort: Bool { packets.isCutShort }

    func nextPacket() throws(Interruption) -> Packet? {
        guard var packet = try packets.nextPacket() else { return nil }
        let blocks = storage.blocks(of: packet.bytes) ?? []
        buffer.clear()
        blocks.withUnsafeBytes { buffer.add($0, isWhole: false) }
        packet.bytes = buffer.bytes
        return packet
    }

    func seek(toFrame frame: Int64) throws(Interruption) -> Int64 { try packets.seek(toFrame: frame) }
}
