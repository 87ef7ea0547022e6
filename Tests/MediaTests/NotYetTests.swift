import PCM
import Platform
import Testing

@testable import Media

@Suite("Bytes that are not there yet", Tool.needsFLAC, Tool.needsFFmpeg)
struct NotYetTests {
    enum Kind: CaseIterable {
        case flac, flacWithoutTable, flacWithoutTotal, flacWithoutHeader, wav, wave64, aiff, mp4, mp4InFragments, alac,
            pcm
    }

    static let signal = Signal(frames: 40_000)

    /// The signal in a container, after a tag and with some difficult bytes before the audio.
    static func file(_ kind: Kind) throws -> [UInt8] {
        let title = Array("TIT2".utf8) + [0, 0, 0, 6, 0, 0, 3] + Array("Title".utf8)
        let tag = Array("ID3".utf8) + [3, 0, 0, 0, 0, 0, UInt8(title.count)] + title
        let samples = signal.raw(byteCount: 2)
        switch kind {
        case .flac: return tag + (try signal.flac(["-S0.1s", "-T", "ARTIST=Artist"]))
        case .flacWithoutTable: return tag + (try signal.flac(["--no-seektable"]))
        case .flacWithoutTotal: return tag + (try signal.flac(fromPipe: true))
        case .flacWithoutHeader:
            let map = try FrameMap(try signal.flac(fromPipe: true))
            return tag + map.frames(0..<(map.offsets.count - 1))
        case .wav:
            let list = Chunks.riff("LIST", Array("INFO".utf8) + Chunks.riff("IART", Array("Artist".utf8)))
            return tag
                + Chunks.wav(
                    Chunks.format(of: signal, bits: 16, byteCount: 2) + list + Chunks.riff("data", samples))
        case .wave64:
            return tag
                + Wave64Tests.file(
                    Wave64Tests.chunk("fmt ", Array(Chunks.format(of: signal, bits: 16, byteCount: 2).dropFirst(8)))
                        + Wave64Tests.chunk("data", samples))
        case .alac, .pcm:
            let codec = kind == .alac ? "alac" : "pcm_s16le"
            return try signal.ffmpeg(
                ["-c:a", codec, "-metadata", "artist=Artist", "-movflags", "faststart"], to: "file.mov")
        case .aiff:
            let sound = AIFFTests.sound(signal.raw(byteCount: 2, bigEndian: true))
            return tag + Chunks.aiff(AIFFTests.common(signal) + Chunks.iff("AUTH", Array("Artist".utf8)) + sound)
        case .mp4, .mp4InFragments:
            let layout =
                kind == .mp4
                ? ["-movflags", "faststart"]
                : ["-movflags", "dash+global_sidx+frag_keyframe", "-frag_duration", "200000"]
            return try signal.ffmpeg(MP4Tests.flac + ["-metadata", "artist=Artist"] + layout, to: "file.mp4")
        }
    }

    @Test("At every k-th read: the same tags and samples", arguments: Kind.allCases, [2, 5])
    func everyRead(kind: Kind, k: Int) throws {
        let bytes = try Self.file(kind)
        let plain = try AudioFile.open(MemorySource(bytes))
        for largestRead in [Int.max, 700] {
            let source = MemorySource(bytes)
            source.notYetEvery = k
            source.largestRead = largestRead
            let decoder = try AudioFile.open(source)
            #expect(decoder.metadata == plain.metadata)
            #expect(decoder.properties == plain.properties)
            #expect(difference(decoder.decodeAll().samples, Self.signal.samples) == nil)
            #expect(source.notYetCount > 0)
            #expect(decoder.damage.isEmpty)
        }
    }

    @Test("At every k-th read: seeks are exact", arguments: Kind.allCases, [2, 7])
    func seeks(kind: Kind, k: Int) throws {
        let source = MemorySource(try Self.file(kind))
        source.notYetEvery = k
        source.largestRead = 3000
        let decoder = try AudioFile.open(source)
        for frame in [12_345, 39_999, 0, 1, 4095, 4096, 30_000, 40_000, 77, 5_000_000, 20_000] {
            try decoder.seek(toFrame: Int64(frame))
            let expected = Self.signal.slice(min(frame, 40_000)..<min(frame + 6000, 40_000))
            #expect(try difference(decoder.decode(frames: 6000), expected) == nil, "frame \(frame)")
        }
        #expect(decoder.damage.isEmpty)
    }

    @Test("Damage is counted once, however often a step is repeated", arguments: [2, 3, 5])
    func damage(k: Int) throws {
        let map = try FrameMap(try Self.signal.flac(["-b1000", "--no-padding"]))
        var bytes = map.header + map.frames(0..<10) + map.frames(13..<40)
        bytes[map.middle(of: 5)] ^= 1
        bytes[bytes.count - 30] ^= 1
        let plain = try decode(bytes)
        let source = MemorySource(bytes)
        source.notYetEvery = k
        source.largestRead = 700
        let decoder = try AudioFile.open(source)
        #expect(decoder.decodeAll() == plain.decoded)
        #expect(decoder.damage == plain.damage)
        #expect(plain.damage.incidents == 3)
    }

    @Test("Files that were appended follow", arguments: [2, 5])
    func appended(k: Int) throws {
        let other = Signal(frames: 5000, rate: 96000, channels: 1, depth: 24, seed: 2)
        let source = MemorySource(try Self.signal.flac() + other.flac())
        source.notYetEvery = k
        source.largestRead = 1000
        let decoded = try AudioFile.open(source).decodeAll()
        #expect(decoded.parts.map(\.format) == [Self.signal.format, other.format])
        #expect(decoded.parts.last.flatMap { difference($0.samples, other.samples) } == nil)
    }

    @Test("A download that grows in small steps is opened, and played up to its end", arguments: Kind.allCases)
    func growing(kind: Kind) throws {
        let bytes = try Self.file(kind)
        let source = MemorySource(bytes, knowsLength: false)
        source.available = 0
        let opening = AudioOpening(source)
        var opened: (any AudioDecoder)?
        while opened == nil {
            opened = try opening.attempt()
            if opened == nil { source.available += source.available < 300 ? 1 : 97 }
        }
        let decoder = try #require(opened)
        // Up to the end of the headers.
        #expect(source.available < (kind == .flacWithoutHeader ? 40_000 : 9000))
        let buffer = UnsafeMutableBufferPointer<Int32>.allocate(capacity: 8192)
        defer { buffer.deallocate() }
        var samples: [Int32] = []
        var isAtEnd = false
        while !isAtEnd {
            switch try decoder.read(into: buffer) {
            case .frames(let count): samples += buffer[..<(count * 2)]
            case .format: Issue.record("another format")
            case .notYet:
                #expect(try decoder.read(into: buffer) == .notYet)
                source.available += 5000
                if source.available >= bytes.count { source.available = .max }
            case .end: isAtEnd = true
            }
        }
        #expect(difference(samples, Self.signal.samples) == nil)
        #expect(decoder.damage.isEmpty)
    }

    @Test("A seek to missing bytes is carried out when they arrive, or replaced by another seek")
    func pendingSeek() throws {
        for kind in [Kind.wav, .flac] {
            let bytes = try Self.file(kind)
            let source = MemorySource(bytes)
            let decoder = try AudioFile.open(source)
            source.available = Int64(bytes.count / 2)
            let buffer = UnsafeMutableBufferPointer<Int32>.allocate(capacity: 8192)
            defer { buffer.deallocate() }
            try decoder.seek(toFrame: 35_000)
            #expect(try decoder.read(into: buffer) == .notYet)
            if kind == .wav {
                try decoder.seek(toFrame: 100)
                #expect(try difference(decoder.decode(frames: 100), Self.signal.slice(100..<200)) == nil)
                try decoder.seek(toFrame: 35_000)
            }
            source.available = .max
            #expect(try difference(decoder.decode(frames: 100), Self.signal.slice(35_000..<35_100)) == nil)
        }
    }

    @Test("Opening waits for the source, and ends when it is cancelled")
    func waiting() throws {
        let source = WaitingSource(try Self.file(.wav))
        let decoder = try AudioFile.open(source, cancellation: try Cancellation())
        #expect(difference(decoder.decodeAll().samples, Self.signal.samples) == nil)
        #expect(source.wakeCount >= 1)

        let cancellation = try Cancellation()
        let silent = WaitingSource([], whenAsked: { cancellation.cancel() })
        #expect(throws: MediaError.source(.cancelled)) { try AudioFile.open(silent, cancellation: cancellation) }
    }

    @Test("The reasons for which bytes cannot be read reach the caller as they are")
    func errors() throws {
        for error in [
            ByteSourceError.cancelled, .network(reason: "r"), .status(503), .integrity(reason: "r"),
            .unusable(reason: "r"),
            .medium(SystemError(code: 5, operation: "read")),
        ] {
            #expect(throws: MediaError.source(error)) { try AudioFile.open(FailingSource(error)) }
        }
    }
}

/// A source that has its bytes only after the first request for a wake-up.
private final class WaitingSource: ByteSource {
    private let memory: MemorySource
    private let whenAsked: @Sendable () -> Void
    private(set) var wakeCount = 0

    init(_ bytes: [UInt8], whenAsked: @escaping @Sendable () -> Void = {}) {
        memory = MemorySource(bytes)
        memory.available = 0
        self.whenAsked = whenAsked
    }

    var length: Int64? { nil }

    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(ByteSourceError) -> ByteRead {
        try memory.read(into: buffer, at: offset)
    }

    func whenReadable(_ wake: @escaping @Sendable () -> Void) {
        whenAsked()
        guard !memory.bytes.isEmpty else { return }
        memory.available = .max
        wakeCount += 1
        wake()
    }
}

private final class FailingSource: ByteSource {
    private let error: ByteSourceError
    let length: Int64? = nil

    init(_ error: ByteSourceError) { self.error = error }

    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(ByteSourceError) -> ByteRead {
        throw error
    }
}
