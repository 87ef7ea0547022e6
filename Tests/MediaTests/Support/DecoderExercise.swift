@testable import Media

/// Uses bytes as a player uses a file: opens it, reads it completely, and seeks. With any bytes this ends within bounds
/// that are checked here. The fuzzers and the tests share it.
struct DecoderExercise {
    /// Frames that are read at most, in all: a small file may well ask for a day of silence.
    private let frameLimit: Int
    private(set) var framesRead = 0
    private(set) var error: MediaError?
    /// Whether the source answers "not yet".
    private var isPatient = false
    /// The channels of the last format that the decoder announced. A seek does not reset it.
    private var channelCount = 0

    init(frameLimit: Int = 400_000) { self.frameLimit = frameLimit }

    /// - Parameter notYetEvery: every read of this number is answered with "not yet"; 0: none.
    mutating func run(_ bytes: [UInt8], knowsLength: Bool = true, notYetEvery: Int = 0) {
        let source = MemorySource(bytes, knowsLength: knowsLength)
        source.notYetEvery = notYetEvery
        isPatient = notYetEvery > 0
        do throws(MediaError) {
            let decoder = try AudioFile.open(source)
            channelCount = decoder.properties.format.channelCount
            for picture in decoder.metadata.pictures {
                let isPlausible = picture.length > 0 && (0...picture.offset).contains(picture.page ?? 0)
                precondition(isPlausible && picture.offset <= .max - picture.length, "\(picture)")
            }
            check(source, bytesBefore: 0, passes: 4)
            try read(decoder, limit: frameLimit / 2)
            check(source, bytesBefore: 0, passes: 8)
            let count = decoder.properties.frameCount ?? 1000
            for target in [0, count / 2, count - 1, count, 1, count &* 3, .max, count / 3] {
                let before = source.bytesRead
                try decoder.seek(toFrame: target)
                try read(decoder, limit: 5000)
                check(source, bytesBefore: before, passes: 1000)
            }
            for target in decoder.dsdWords == nil ? [] : [0, count, 1, .max, count / 3] {
                guard let words = decoder.dsdWords else { break }
                let before = source.bytesRead
                try words.seek(toFrame: target)
                try read(words, limit: 5000)
                check(source, bytesBefore: before, passes: 1000)
            }
        } catch {
            self.error = error
        }
        precondition(source.largestRequest <= 262_144, "one read of \(source.largestRequest) bytes")
    }

    private mutating func read(_ decoder: any AudioDecoder, limit: Int) throws(MediaError) {
        let buffer = UnsafeMutableBufferPointer<Int32>.allocate(capacity: 1000 * 8)
        defer { buffer.deallocate() }
        var frames = 0
        // A format is followed by frames, so that twice as many calls are enough.
        for _ in 0..<(2 * limit + 2) where frames < limit {
            switch try decoder.read(into: buffer) {
            case .frames(let count):
                precondition(count > 0 && count * channelCount <= buffer.count)
                frames += count
                framesRead += count
            case .format(let format):
                precondition(1...8 ~= format.channelCount && 4...32 ~= format.bitDepth && format.sampleRate > 0)
                channelCount = format.channelCount
            case .notYet:
                precondition(isPatient, "a source that is always ready was not")
            case .end:
                return
            }
        }
    }

    /// No step reads the file more than so many times over.
    private func check(_ source: MemorySource, bytesBefore: Int, passes: Int) {
        precondition(
            source.bytesRead - bytesBefore <= passes * (source.bytes.count + 8192),
            "\(source.bytesRead - bytesBefore) bytes read of \(source.bytes.count)")
    }
}
