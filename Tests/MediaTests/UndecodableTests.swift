import PCM
import TestSupport
import Testing

@testable import Media

/// The result of opening and decoding a whole file.
func outcome(of bytes: [UInt8]) -> (samples: Int, error: MediaError?) {
    do throws(MediaError) {
        let decoded = try AudioFile.open(MemorySource(bytes)).decodeAll()
        return (decoded.parts.reduce(0) { $0 + $1.samples.count }, decoded.error)
    } catch {
        return (0, error)
    }
}

@Suite(
    "A file of which nothing can be decoded is an error", Tool.needsFFmpeg, Tool.needsOpusTools, Tool.needsVorbisTools,
    Tool.needsFLAC, Tool.needsWavPack)
struct UndecodableTests {
    enum Kind: CaseIterable, Sendable {
        case vorbis, opus, oggFLAC, flac, alac, mp4FLAC, mp4Opus, wavPack
        #if AAC
            case aac, adts
        #endif

        func file(_ signal: Signal) throws -> [UInt8] {
            switch self {
            case .vorbis: try signal.oggenc()
            case .opus: try signal.opusenc()
            case .oggFLAC: try signal.flac(["--ogg"])
            case .flac: try signal.flac()
            case .alac: try signal.ffmpeg(["-c:a", "alac"], to: "file.m4a")
            case .mp4FLAC: try signal.ffmpeg(["-c:a", "flac", "-strict", "-2"], to: "file.mp4")
            case .mp4Opus: try signal.ffmpeg(["-c:a", "libopus"], to: "file.mp4")
            case .wavPack: try signal.wavpack(["--blocksize=12000"])
            #if AAC
                case .aac: try signal.ffmpeg(AACReference.encoder, to: "file.m4a")
                case .adts: try signal.ffmpeg(AACReference.encoder, to: "file.aac")
            #endif
            }
        }

        /// The file with damage in the packets, apart from those in the middle.
        /// - Parameter kept: the part that stays, in hundredths.
        func damaged(_ file: [UInt8], keeping kept: Range<Int>?) throws -> [UInt8] {
            var bytes = file
            func damage(_ range: Range<Int>, _ value: UInt8) {
                for place in range { bytes[place] = value }
            }
            func isKept(_ place: Int, of all: Range<Int>) -> Bool {
                kept?.contains((place - all.lowerBound) * 100 / all.count) ?? false
            }
            switch self {
            case .vorbis, .opus, .oggFLAC:
                var map = OggMap(file)
                let all = map.firstAudio..<map.pages.count
                for page in all where !isKept(page, of: all) {
                    let body = map.pages[page].bodyStart..<map.pages[page].bytes.count
                    for place in body { map.pages[page].bytes[place] = 0xFF }
                    map.pages[page].seal()
                }
                return map.bytes
            case .flac:
                let map = try FrameMap(file)
                let all = 0..<(map.offsets.count - 1)
                for frame in all where !isKept(frame, of: all) {
                    damage((map.offsets[frame] + 8)..<map.offsets[frame + 1], 0x55)
                }
            case .wavPack:
                var map = WavPackMap(file)
                for block in map.blocks.indices where !isKept(block, of: map.blocks.indices) {
                    for place in 40..<map.blocks[block].count { map.blocks[block][place] = 0x55 }
                }
                return map.bytes
            case .alac, .mp4FLAC, .mp4Opus: try damageMedia(0xFF)
            #if AAC
                case .aac: try damageMedia(0)
                case .adts:
                    var (start, number) = (0, 0)
                    let all = 0..<file.count
                    while let header = ADTSHeader(file[start...]) {
                        if !isKept(start, of: all) {
                            damage((start + header.headerSize)..<(start + header.byteCount), 0)
                        }
                        start += header.byteCount
                        number += 1
                    }
            #endif
            }
            func damageMedia(_ value: UInt8) throws {
                let media = try #require(Boxes.find(["mdat"], in: file).first)
                let all = (media.lowerBound + 8)..<media.upperBound
                for place in all where !isKept(place, of: all) { bytes[place] = value }
            }
            return bytes
        }
    }

    private static let signal = Signal.music(frames: 200_000, rate: 48_000)
    private static let files = MadeOnce<[UInt8]>()

    @Test("Every packet is damaged: an error, and no silence before it", arguments: Kind.allCases)
    func nothing(kind: Kind) throws {
        let file = try Self.files.value("\(kind)") { try kind.file(Self.signal) }
        let (samples, error) = outcome(of: try kind.damaged(file, keeping: nil))
        #expect(samples == 0)
        if case .damaged = error { return }
        Issue.record("\(String(describing: error))")
    }

    @Test("A few packets in the middle are left: they play, with silence for those before", arguments: Kind.allCases)
    func some(kind: Kind) throws {
        let file = try Self.files.value("\(kind)") { try kind.file(Self.signal) }
        let plain = try decode(file).decoded.samples
        let decoder = try AudioFile.open(MemorySource(kind.damaged(file, keeping: 40..<60)))
        let decoded = decoder.decodeAll()
        #expect(decoded.error == nil && !decoder.damage.isEmpty)
        let sound = decoded.samples.firstIndex { $0 != 0 }
        #expect(sound != nil, "\(decoded.samples.count) samples")
        // Codecs with frames that tell their time, or with packets of one length, keep the time.
        switch kind {
        case .alac, .flac, .wavPack, .mp4FLAC:
            let start = try #require(sound) + 100
            #expect(decoded.samples[start..<(start + 2000)].elementsEqual(plain[start..<(start + 2000)]))
        default: break
        }
        // Small buffers give the same.
        try decoder.seek(toFrame: 0)
        #expect(difference(decoder.decodeAll(bufferFrames: 100).samples, decoded.samples) == nil)
    }

    @Test("Headers with noise behind them, or with nothing", arguments: [Kind.vorbis, .opus, .oggFLAC], [0, 50_000])
    func headersOnly(kind: Kind, noise: Int) throws {
        let map = OggMap(try Self.files.value("\(kind)") { try kind.file(Self.signal) })
        var generator = SeededGenerator(seed: 3)
        let bytes =
            map.bytes[..<map.offset(of: map.firstAudio)]
            + (0..<noise).map { _ in UInt8.random(in: 0...255, using: &generator) }
        let (samples, error) = outcome(of: Array(bytes))
        #expect(samples == 0)
        if case .damaged = error { return }
        Issue.record("\(String(describing: error))")
    }

    @Test("An empty stream that ends as it should is no error")
    func empty() throws {
        let empty = Signal(frames: 0)
        // FLAC without a frame is not known to be whole: a total of 0 is an unknown one.
        for bytes in [try empty.oggenc(), empty.extensibleWAV] {
            #expect(outcome(of: bytes) == (0, nil))
        }
    }

    @Test("Silence is held back up to a limit, and given before the first sound")
    func value() {
        var damage = DamageReport()
        var silence = LeadingSilence()
        let samples = UnsafeMutableBufferPointer<Int32>.allocate(capacity: 10)
        defer { samples.deallocate() }
        samples.update(repeating: 7)
        damage.silencedFrames = 100
        #expect(silence.step(decoded: 100, played: 90, damage, sampleRate: 1) == .hold)
        #expect(silence.take(into: samples, channelCount: 1) == nil)
        #expect(silence.isFailure(damage) == false)
        damage.incidents = 1
        #expect(silence.isFailure(damage))
        #expect(silence.step(decoded: 5, played: 0, damage, sampleRate: 1) == .play && !silence.isOver)
        #expect(silence.step(decoded: 5, played: 5, damage, sampleRate: 1) == .keep)
        silence.keep(UnsafeMutableBufferPointer(rebasing: samples[..<5]))
        var found: [Int32] = []
        while let count = silence.take(into: samples, channelCount: 1) { found += samples[..<count] }
        #expect(found == [Int32](repeating: 0, count: 90) + [Int32](repeating: 7, count: 5) && silence.isOver)
        var other = LeadingSilence()
        damage.silencedFrames = 601
        #expect(other.step(decoded: 600, played: 600, damage, sampleRate: 1) == .hold)
        #expect(other.step(decoded: 1, played: 1, damage, sampleRate: 1) == .fail)
        other.drop()
        #expect(!other.isOver)
    }
}
