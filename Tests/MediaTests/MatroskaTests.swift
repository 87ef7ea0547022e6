import PCM
import TestSupport
import Testing

@testable import Media

@Suite(
    "Matroska and WebM", Tool.needsFFmpeg, Tool.needsMKVToolNix, Tool.needsOpusTools, Tool.needsVorbisTools,
    Tool.needsFLAC)
struct MatroskaTests {
    /// A file of each codec in the container that it usually has.
    enum Kind: CaseIterable, Sendable {
        case opus, vorbis, flac, alac, pcm, mp3
        #if AAC
            case aac
        #endif

        static let frameCount = 100_001

        var name: String {
            switch self {
            case .opus: "file.opus"
            case .vorbis: "file.ogg"
            case .flac: "file.flac"
            case .pcm: "file.wav"
            case .mp3: "file.mp3"
            default: "file.m4a"
            }
        }

        /// Whether its encoder adds frames that Matroska may not mention.
        var hasDelay: Bool {
            switch self {
            case .opus, .vorbis, .flac, .alac, .pcm: false
            default: true
            }
        }

        func native() throws -> [UInt8] {
            try MatroskaTests.files.value("\(self)") {
                let signal = Signal.music(frames: Self.frameCount, rate: self == .opus ? 48_000 : 44_100)
                return switch self {
                case .opus: try signal.opusenc(["--bitrate", "96"])
                case .vorbis: try signal.oggenc(["-q", "4"])
                case .flac: try signal.flac()
                case .alac: try signal.ffmpeg(["-c:a", "alac"], to: name)
                case .pcm: signal.extensibleWAV
                case .mp3: try signal.ffmpeg(["-c:a", "libmp3lame", "-b:a", "96k"], to: name)
                #if AAC
                    case .aac: try signal.ffmpeg(AACReference.encoder, to: name)
                #endif
                }
            }
        }
    }

    private static let files = MadeOnce<[UInt8]>()

    /// How the packets get into Matroska.
    enum Way: CaseIterable, Sendable {
        case ffmpeg, smallClusters, pipe, live, mkvmerge, xiphLacing

        var isByFFmpeg: Bool { self != .mkvmerge && self != .xiphLacing }

        func file(_ kind: Kind) throws -> [UInt8] {
            try MatroskaTests.files.value("\(kind) \(self)") {
                let native = try kind.native()
                return switch self {
                case .ffmpeg: try Remuxing.ffmpeg(native, kind.name, to: "file.mkv")
                case .smallClusters:
                    try Remuxing.ffmpeg(native, kind.name, ["-cluster_time_limit", "150"], to: "file.mkv")
                case .pipe: try Remuxing.ffmpeg(native, kind.name, to: "file.mkv", asStream: true)
                case .live:
                    try Remuxing.ffmpeg(
                        native, kind.name, ["-live", "1", "-cluster_time_limit", "400"], to: "file.mkv")
                case .mkvmerge: try Remuxing.mkvmerge(native, kind.name)
                case .xiphLacing:
                    try Remuxing.mkvmerge(
                        native, kind.name, ["--engage", "lacing_xiph", "--disable-track-statistics-tags", "--no-cues"])
                }
            }
        }
    }

    @Test("The samples are those of the packets in their own container", arguments: Kind.allCases, Way.allCases)
    func plays(kind: Kind, way: Way) throws {
        let (native, _) = try decode(kind.native())
        let decoder = try AudioFile.open(MemorySource(way.file(kind)))
        #expect(decoder.properties.container == .matroska)
        #expect(decoder.properties.format == native.parts[0].format)
        let samples = decoder.decodeAll().samples
        #expect(decoder.properties.frameCount == Int64(samples.count / 2) && decoder.damage.isEmpty)
        // The program drops some data: the delay of MP4's edit list and of the header of LAME, and the end of Vorbis.
        let delay = samples.count - native.samples.count
        if case .vorbis = kind, way == .mkvmerge || way == .xiphLacing {
            #expect(0..<2048 ~= delay)
            #expect(difference(Array(samples.dropLast(delay)), native.samples) == nil)
        } else if kind.hasDelay, delay > 0 {
            let start = kind == .mp3 ? 2 * 1105 : 2 * 1024
            #expect(difference(Array(samples[start...].prefix(native.samples.count)), native.samples) == nil)
            #expect(kind == .mp3 ? way.isByFFmpeg : true)
        } else {
            #expect(difference(samples, native.samples) == nil)
        }
    }

    @Test("Encoders that write into Matroska say how much they added", arguments: Kind.allCases)
    func encoders(kind: Kind) throws {
        let codec =
            switch kind {
            case .opus: ["-c:a", "libopus"]
            case .vorbis: ["-c:a", "libvorbis"]
            case .flac: ["-c:a", "flac"]
            case .alac: ["-c:a", "alac"]
            case .pcm: ["-c:a", "pcm_s16be"]
            case .mp3: ["-c:a", "libmp3lame", "-b:a", "96k"]
            #if AAC
                case .aac: AACReference.encoder
            #endif
            }
        let signal = Signal.music(frames: Kind.frameCount, rate: kind == .opus ? 48_000 : 44_100)
        let name = kind == .opus || kind == .vorbis ? "file.ogg" : kind == .pcm ? "file.mov" : kind.name
        let native = try decode(signal.ffmpeg(codec, to: name)).decoded.samples
        let decoder = try AudioFile.open(MemorySource(signal.ffmpeg(codec, to: "file.mkv")))
        let samples = decoder.decodeAll().samples
        // This ffmpeg writes no delay for AAC and MP3.
        let delay = !kind.hasDelay || samples.count == native.count ? 0 : kind == .mp3 ? 2 * 1105 : 2 * 1024
        #expect(samples.count - delay >= native.count && samples.count - delay - native.count < 2 * 1152)
        #expect(difference(Array(samples[delay...].prefix(native.count)), native) == nil)
        #expect(decoder.properties.frameCount == Int64(samples.count / 2) && decoder.damage.isEmpty)
    }

    @Test("At every k-th read, and in small pieces: the same samples and seeks", arguments: Kind.allCases, [2, 5])
    func notYet(kind: Kind, k: Int) throws {
        let bytes = try Way.mkvmerge.file(kind)
        let plain = try AudioFile.open(MemorySource(bytes))
        let samples = plain.decodeAll().samples
        for largestRead in [Int.max, 700] {
            let source = MemorySource(bytes)
            source.notYetEvery = k
            source.largestRead = largestRead
            let decoder = try AudioFile.open(source)
            #expect(decoder.metadata == plain.metadata && decoder.properties == plain.properties)
            #expect(difference(decoder.decodeAll().samples, samples) == nil)
            for frame in [95_000, 3, 80_001] {
                try decoder.seek(toFrame: Int64(frame))
                let expected = Array(samples[(2 * frame)...].prefix(2000))
                #expect(try difference(decoder.decode(frames: 1000), expected) == nil)
            }
            #expect((source.notYetCount > 0 || largestRead > 700) && decoder.damage.isEmpty)
        }
    }

    @Test("Every seek gives what the whole decode gives", arguments: Kind.allCases, Way.allCases)
    func seeks(kind: Kind, way: Way) throws {
        let bytes = try way.file(kind)
        for knowsLength in [true, false] {
            let decoder = try AudioFile.open(MemorySource(bytes, knowsLength: knowsLength))
            let whole = decoder.decodeAll().samples
            for frame in [0, 1, 1152, 61_440, 70_000, 98_304, 100_000, 5_000_000, 60_000, 44_100, 12, 0] {
                try decoder.seek(toFrame: Int64(frame))
                let expected = Array(whole[min(2 * frame, whole.count)...].prefix(2000))
                #expect(try difference(decoder.decode(frames: 1000), expected) == nil, "frame \(frame)")
            }
            #expect(decoder.damage.isEmpty)
        }
    }
}
