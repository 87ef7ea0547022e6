import PCM
import Testing

@testable import Media

@Suite("Packets, codecs and trims")
struct PacketTests {
    static let signal = Signal(frames: 10_500)

    /// FLAC in packets of exactly one frame each, as MP4 holds it.
    private final class FramePackets: TimedPacketSource {
        var packets: [[UInt8]]
        var trims: [Int: PacketTrim] = [:]
        let isCutShort = false
        let blockSize: Int
        var notYetAt: Set<Int> = []
        private var next = 0
        private let storage = UnsafeMutableRawBufferPointer.allocate(byteCount: 100_000, alignment: 16)

        init(_ map: FrameMap, blockSize: Int) {
            packets = (0..<(map.offsets.count - 1)).map { map.frames($0..<($0 + 1)) }
            self.blockSize = blockSize
        }

        deinit { storage.deallocate() }

        func nextPacket() throws(Interruption) -> Packet? {
            guard next < packets.count else { return nil }
            if notYetAt.remove(next) != nil { throw .notYet }
            storage.copyBytes(from: packets[next])
            var packet = Packet(bytes: UnsafeRawBufferPointer(rebasing: storage[..<packets[next].count]))
            packet.timeStamp = Int64(next * blockSize)
            packet.duration = Int64(blockSize)
            packet.trim = trims[next] ?? PacketTrim()
            next += 1
            return packet
        }

        func seek(toFrame frame: Int64) throws(Interruption) -> Int64 {
            next = min(packets.count, Int(frame) / blockSize)
            return Int64(next * blockSize)
        }
    }

    private func frames() throws -> (packets: FramePackets, info: FLACStreamInfo) {
        let map = try FrameMap(try Self.signal.flac(["-b1000", "--no-padding"]))
        return (FramePackets(map, blockSize: 1000), try FLACStreamInfo(Array(map.bytes[8..<42])))
    }

    private func decoder(_ packets: FramePackets, _ info: FLACStreamInfo, _ edit: TrackEdit = TrackEdit()) throws
        -> TrackDecoder
    {
        let properties = AudioProperties(
            format: info.format, frameCount: nil, container: .flac, codec: .flac, bitRate: nil)
        let track = TrackDescription(properties: properties, metadata: TrackMetadata(), edit: edit)
        return TrackDecoder(track, packets, try FLACFrameCodec(packets, info), StepSource(MemorySource([])))
    }

    @Test("FLAC in exact frames decodes, with buffers of any size", Tool.needsFLAC, arguments: [1, 100, 4096])
    func exactFrames(bufferFrames: Int) throws {
        let (packets, info) = try frames()
        packets.notYetAt = [0, 4, 10]
        let decoder = try decoder(packets, info)
        #expect(difference(decoder.decodeAll(bufferFrames: bufferFrames).samples, Self.signal.samples) == nil)
        #expect(decoder.damage.isEmpty)
        for frame in [7777, 0, 1000, 10_499, 999] {
            try decoder.seek(toFrame: Int64(frame))
            let expected = Self.signal.slice(frame..<min(frame + 1500, 10_500))
            #expect(try difference(decoder.decode(frames: 1500), expected) == nil, "frame \(frame)")
        }
    }

    @Test("A packet that cannot be decoded is silence of its duration", Tool.needsFLAC)
    func damagedPackets() throws {
        let (packets, info) = try frames()
        packets.packets[3][packets.packets[3].count / 2] ^= 8
        packets.packets[6] = [1, 2, 3]
        packets.packets[8].removeLast(200)
        let decoder = try decoder(packets, info)
        let silent = [3, 6, 8]
        let expected = Self.signal.samples.enumerated().map { silent.contains($0.offset / 2000) ? 0 : $0.element }
        #expect(difference(decoder.decodeAll().samples, expected) == nil)
        #expect(decoder.damage.incidents == 3 && decoder.damage.silencedFrames == 3000)
    }

    @Test("The trims of packets are cut off", Tool.needsFLAC)
    func packetTrims() throws {
        let (packets, info) = try frames()
        packets.trims = [
            0: PacketTrim(leading: 100), 5: PacketTrim(leading: 999, trailing: 1), 10: PacketTrim(trailing: 7),
        ]
        let expected =
            Self.signal.slice(100..<5000) + Self.signal.slice(6000..<10_493)
        #expect(try difference(decoder(packets, info).decodeAll().samples, expected) == nil)
    }

    @Test(
        "An edit drops leading frames and stops after a count",
        arguments: [(0, nil), (1, nil), (1024, 9000), (2500, 3), (0, 0), (10_499, nil), (20_000, nil), (576, 20_000)]
            as [(Int64, Int64?)])
    func edits(leading: Int64, count: Int64?) throws {
        let samples = Self.signal.raw(byteCount: 2)
        for bufferFrames in [7, 4096] {
            let packets = PCMPackets(
                MemorySource(samples), layout: SampleLayout(byteCount: 2, bitDepth: 16, isBigEndian: false),
                channelCount: 2, sampleRate: 44_100, dataOffset: 0, declaredBytes: nil)
            let properties = AudioProperties(
                format: packets.format, frameCount: count, container: .wav, codec: .pcm, bitRate: nil)
            let edit = TrackEdit(leading: leading, count: count)
            let decoder = TrackDecoder(
                TrackDescription(properties: properties, metadata: TrackMetadata(), edit: edit), packets,
                PCMCodec(packets, packets.layout, channelCount: 2), StepSource(MemorySource([])))
            let start = min(Int(leading), 10_500)
            let end = min(10_500, Int(count.map { Int64(start) + $0 } ?? 10_500))
            #expect(
                difference(decoder.decodeAll(bufferFrames: bufferFrames).samples, Self.signal.slice(start..<end)) == nil
            )
            for frame in [0, 5, 2999, 100_000] {
                try decoder.seek(toFrame: Int64(frame))
                let from = min(start + frame, end)
                let expected = Self.signal.slice(from..<min(from + 500, end))
                #expect(try difference(decoder.decode(frames: 500), expected) == nil, "frame \(frame)")
            }
            try decoder.seek(toFrame: .max)
            #expect(try decoder.decode(frames: 1).isEmpty)
        }
    }

    @Test("Parts of an edit list behind the end of the media are passed over, and end the track when they are many")
    func partsBehindTheEnd() throws {
        for (count, isPlayedOn) in [(0, true), (8, true), (9, false), (40, false)] {
            let packets = PCMPackets(
                MemorySource(Self.signal.raw(byteCount: 2)),
                layout: SampleLayout(byteCount: 2, bitDepth: 16, isBigEndian: false), channelCount: 2,
                sampleRate: 44_100, dataOffset: 0, declaredBytes: nil)
            let properties = AudioProperties(
                format: packets.format, frameCount: nil, container: .wav, codec: .pcm, bitRate: nil)
            let behind = (0..<count).map { TrackEdit.Part.media(start: 20_000 + Int64($0), count: 10) }
            let edit = TrackEdit([.media(start: 0, count: 100)] + behind + [.media(start: 500, count: 100)])
            let decoder = TrackDecoder(
                TrackDescription(properties: properties, metadata: TrackMetadata(), edit: edit), packets,
                PCMCodec(packets, packets.layout, channelCount: 2), StepSource(MemorySource([])))
            let expected = Self.signal.slice(0..<100) + (isPlayedOn ? Self.signal.slice(500..<600) : [])
            #expect(difference(decoder.decodeAll().samples, expected) == nil, "\(count) parts")
        }
    }
}
