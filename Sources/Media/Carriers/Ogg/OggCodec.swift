import PCM

/// Decodes the links of Ogg one after the other, each with its own decoder.
final class OggCodec: Codec {
    private let container: OggContainer
    private var decoder: any Codec
    /// The damage in the links before.
    private var earlierDamage = DamageReport()
    /// The format of the next frames.
    private var format: PCMFormat
    /// The format that was returned last.
    private var announcedFormat: PCMFormat

    init(_ container: OggContainer) throws(Interruption) {
        self.container = container
        decoder = try Self.decoder(container)
        format = container.link.content.format
        announcedFormat = format
    }

    var damage: DamageReport {
        var sum = decoder.damage
        sum.incidents += earlierDamage.incidents
        sum.silencedFrames += earlierDamage.silencedFrames
        return sum
    }

    var metadata: TrackMetadata? { container.metadata }

    func read(into buffer: UnsafeMutableBufferPointer<Int32>) throws(Interruption) -> CodecRun {
        while true {
            if announcedFormat != format {
                announcedFormat = format
                return .format(format)
            }
            switch try decoder.read(into: buffer) {
            case .frames(let count): return .frames(count)
            case .format(let other): format = other
            case .end:
                guard try container.nextLink() else { return .end }
                try beginLink()
            }
        }
    }

    func seek(toFrame frame: Int64) throws(Interruption) -> Int64 {
        let before = container.link.offset
        let target = try container.enterLink(ofFrame: min(max(0, frame), AudioLimits.largestData))
        if container.link.offset != before { try beginLink() }
        return frame - (target - (try decoder.seek(toFrame: target)))
    }

    private func beginLink() throws(Interruption) {
        earlierDamage = damage
        decoder = try Self.decoder(container)
        format = container.link.content.format
    }

    private static func decoder(_ container: OggContainer) throws(Interruption) -> any Codec {
        switch container.link.content {
        case .opus(let head): FloatPacketCodec(container, try OpusLibrary(head), head.format)
        case .vorbis(let setup): FloatPacketCodec(container, try VorbisLibrary(setup), setup.format)
        case .flac(let info): try FLACFrameCodec(container, info, longestSilence: .max)
        }
    }
}
