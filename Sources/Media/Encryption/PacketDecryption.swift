import Crypto

/// The stage between container and codec that decrypts packets. Plain packets go through
/// unchanged (docs/decisions/encrypted-content.md).
///
/// Thread: only the decoder thread.
final class PacketDecryption: TimedPacketSource {
    private let packets: any TimedPacketSource
    private let licenses: any LicenseProvider
    private let systems: [ProtectionSystem]
    private var keys: [CachedKey] = []
    private var storage: UnsafeMutableRawBufferPointer

    /// The most keys in memory. Content changes its keys every few minutes at most.
    private static let mostKeys = 16

    private final class CachedKey {
        let id: [UInt8]
        let secret: SecretBytes

        init(id: [UInt8], _ bytes: [UInt8]) {
            self.id = id
            secret = SecretBytes(copying: bytes)
        }
    }

    init(_ packets: any TimedPacketSource, _ licenses: any LicenseProvider, _ systems: [ProtectionSystem]) {
        self.packets = packets
        self.licenses = licenses
        self.systems = systems
        storage = .allocate(byteCount: 4096, alignment: 16)
    }

    deinit { storage.deallocate() }

    var isCutShort: Bool { packets.isCutShort }

    func nextPacket() throws(Interruption) -> Packet? {
        guard var packet = try packets.nextPacket() else { return nil }
        guard let encryption = packet.encryption else { return packet }
        let key = try key(encryption.keyID)
        if storage.count < packet.bytes.count {
            storage.deallocate()
            storage = .allocate(byteCount: packet.bytes.count, alignment: 16)
        }
        let bytes = UnsafeMutableRawBufferPointer(rebasing: storage[..<packet.bytes.count])
        bytes.copyMemory(from: packet.bytes)
        try PacketCipher.decrypt(bytes, encryption, key: key.secret)
        packet.bytes = UnsafeRawBufferPointer(bytes)
        packet.encryption = nil
        return packet
    }

    func seek(toFrame frame: Int64) throws(Interruption) -> Int64 { try packets.seek(toFrame: frame) }

    private func key(_ id: [UInt8]) throws(Interruption) -> CachedKey {
        if let known = keys.first(where: { $0.id == id }) { return known }
        let bytes: [UInt8]
        do throws(MediaError) { bytes = try licenses.key(KeyRequest(keyID: id, systems: systems)) } catch {
            throw .failed(error)
        }
        guard bytes.count == 16 else { throw .failed(.license(reason: "a key of \(bytes.count) bytes, not 16")) }
        if keys.count == Self.mostKeys { keys.removeFirst() }
        let key = CachedKey(id: id, bytes)
        keys.append(key)
        return key
    }
}
