import Library
import Media

/// The properties of a track as AAC, as far as they follow from the track: its manifest needs no encoder.
struct ServedAAC: Equatable, Sendable {
    static let samplesPerFrame = 1024
    /// The samples that ffmpeg's encoder adds before the first one.
    static let priming: Int64 = 1024
    /// The duration of a segment, in seconds.
    private static let segmentDuration = 4
    private static let rates = [
        96_000, 88_200, 64_000, 48_000, 44_100, 32_000, 24_000, 22_050, 16_000, 12_000, 11_025, 8000,
    ]

    let sampleRate: Int
    /// 1 or 2.
    let channelCount: Int
    let bitRate: Int
    /// The samples of the original, at the rate of the stream.
    let heardCount: Int64

    /// Returns nil for a track that is not encoded: it is lossy, has more channels, or its length is unknown.
    init?(_ track: Track, _ quality: EncodedQuality) {
        guard let frameCount = track.frameCount, !track.isLossy, (1...2).contains(track.format.channelCount) else {
            return nil
        }
        sampleRate = Self.rate(for: track.format.sampleRate)
        channelCount = track.format.channelCount
        bitRate = quality.bitRate
        let original = Int64(track.format.sampleRate)
        heardCount = (frameCount * Int64(sampleRate) + original - 1) / original
    }

    /// Returns the rate to encode at. Common rates of AAC stay; multiples of 44.1 kHz become 44.1 kHz, and others 48
    /// kHz.
    private static func rate(for rate: Int) -> Int {
        if [8000, 11_025, 12_000, 16_000, 22_050, 24_000, 32_000, 44_100, 48_000].contains(rate) { return rate }
        return rate % 44_100 == 0 ? 44_100 : 48_000
    }

    /// The index of the rate in headers and configurations.
    var rateIndex: UInt8 { UInt8(Self.rates.firstIndex(of: sampleRate) ?? 0) }

    /// The AudioSpecificConfig: AAC-LC, the rate, the channels.
    var configuration: [UInt8] {
        [2 << 3 | rateIndex >> 1, (rateIndex & 1) << 7 | UInt8(channelCount) << 3]
    }

    /// The frames for all samples of the original and the priming.
    var frameCount: Int {
        Int((Self.priming + heardCount + Int64(Self.samplesPerFrame) - 1) / Int64(Self.samplesPerFrame))
    }

    var framesPerSegment: Int { max(1, sampleRate * Self.segmentDuration / Self.samplesPerFrame) }

    var segmentCount: Int { (frameCount + framesPerSegment - 1) / framesPerSegment }

    /// Returns the number of frames of a segment, from 1; nil without such a segment.
    func frameCount(ofSegment number: Int) -> Int? {
        guard number > 0, number <= segmentCount else { return nil }
        return min(framesPerSegment, frameCount - (number - 1) * framesPerSegment)
    }

    /// A frame without sound, without a header.
    var silence: [UInt8] {
        channelCount == 1
            ? [0x00, 0xC8, 0x00, 0x80, 0x23, 0x80] : [0x21, 0x00, 0x49, 0x90, 0x02, 0x19, 0x00, 0x23, 0x80]
    }
}
