import CVorbis
import PCM

/// The headers of Vorbis, read by libvorbis.
///
/// Thread: only the decoder thread.
final class VorbisSetup {
    let format: PCMFormat
    /// Samples of the longest block. A packet gives half of it at most.
    let largestBlock: Int
    /// The length of every packet is a multiple of this.
    let step: Int
    /// The bit rate that the encoder aimed at; nil when it is not stored.
    let bitRate: Int?
    let info: UnsafeMutablePointer<vorbis_info>

    /// Comments without a vendor or a comment. The real comments are read elsewhere, but libvorbis requires a packet.
    private static let noComments: [UInt8] = [3, 0x76, 0x6F, 0x72, 0x62, 0x69, 0x73, 0, 0, 0, 0, 0, 0, 0, 0, 1]

    init(identification: [UInt8], setup: [UInt8]) throws(Interruption) {
        let info = UnsafeMutablePointer<vorbis_info>.allocate(capacity: 1)
        vorbis_info_init(info)
        var comments = vorbis_comment()
        vorbis_comment_init(&comments)
        var isRead = true
        var number: Int64 = 0
        for packet in [identification, Self.noComments, setup] where isRead {
            var bytes = packet
            isRead = bytes.withUnsafeMutableBufferPointer { buffer in
                var packet = ogg_packet()
                packet.packet = buffer.baseAddress
                packet.bytes = CLong(buffer.count)
                packet.b_o_s = number == 0 ? 1 : 0
                packet.packetno = number
                return vorbis_synthesis_headerin(info, &comments, &packet) == 0
            }
            number += 1
        }
        vorbis_comment_clear(&comments)
        let (channels, rate) = (Int(info.pointee.channels), Int(info.pointee.rate))
        let nominal = Int(info.pointee.bitrate_nominal)
        let problem: Interruption? =
            if !isRead {
                .damaged(what: "Vorbis with headers that are not valid")
            } else if !(AudioLimits.channelCounts ~= channels) {
                .unsupported(what: "Vorbis with \(channels) channels")
            } else if !(AudioLimits.sampleRates ~= rate) {
                .unsupported(what: "Vorbis with a sample rate of \(rate) Hz")
            } else {
                nil
            }
        if let problem {
            vorbis_info_clear(info)
            info.deallocate()
            throw problem
        }
        self.info = info
        format = PCMFormat(sampleRate: rate, channelCount: channels, bitDepth: 24)
        largestBlock = Int(vorbis_info_blocksize(info, 1))
        let smallestBlock = Int(vorbis_info_blocksize(info, 0))
        step = max(1, smallestBlock / (smallestBlock < largestBlock ? 4 : 2))
        bitRate = nominal > 0 ? nominal : nil
    }

    deinit {
        vorbis_info_clear(info)
        info.deallocate()
    }

    /// Samples of a packet's block; nil when it is damaged.
    func blockSize(of packet: UnsafeRawBufferPointer) -> Int? {
        var view = ogg_packet(packet)
        let size = Int(vorbis_packet_blocksize(info, &view))
        return size > 0 ? size : nil
    }
}

extension ogg_packet {
    /// - Parameter bytes: libvorbis only reads them.
    init(_ bytes: UnsafeRawBufferPointer) {
        self.init()
        packet = UnsafeMutablePointer(mutating: bytes.bindMemory(to: UInt8.self).baseAddress)
        self.bytes = CLong(bytes.count)
        granulepos = -1
    }
}
