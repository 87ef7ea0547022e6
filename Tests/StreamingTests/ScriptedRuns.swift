import Media
import PCM

@testable import Playback
@testable import Streaming

/// A decoder whose runs a test gives. Each frame of one channel has its number as the sample.
final class ScriptedRuns: AudioDecoder {
    let properties: AudioProperties
    let metadata = TrackMetadata()
    let damage: DamageReport
    private let runs: [DecodedRun]
    private let seekError: MediaError?
    private var next = 0
    private var frame: Int64 = 0

    /// - Parameters:
    ///   - runs: after them it ends.
    ///   - isCut: whether its header announces more.
    init(rate: Int = 48_000, _ runs: [DecodedRun], isCut: Bool = false, seekError: MediaError? = nil) {
        properties = AudioProperties(
            format: PCMFormat(sampleRate: rate, channelCount: 1, bitDepth: 16), frameCount: nil, container: .flac,
            codec: .flac, bitRate: nil)
        var damage = DamageReport()
        damage.truncated = isCut
        (self.damage, self.runs, self.seekError) = (damage, runs, seekError)
    }

    func read(into buffer: UnsafeMutableBufferPointer<Int32>) throws(MediaError) -> DecodedRun {
        guard next < runs.count else { return .end }
        next += 1
        if case .frames(let count) = runs[next - 1] {
            for index in 0..<count { buffer[index] = Int32(frame) + Int32(index) }
            frame += Int64(count)
        }
        return runs[next - 1]
    }

    /// Seeks to the first frame of a run, or the end.
    func seek(toFrame target: Int64) throws(MediaError) {
        if let seekError { throw seekError }
        (next, frame) = (0, 0)
        while next < runs.count, frame < target {
            if case .frames(let count) = runs[next] { frame += Int64(count) }
            next += 1
        }
    }
}
