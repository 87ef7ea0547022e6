import Foundation
import Media
import PCM
import Platform

@testable import Playback
@testable import Player

/// A source whose products arrive slowly, and fail, as a test wants. The product's id is its name.
package final class ScriptedSource: PlaybackSource {
    private let recordings: [String: ScriptedRecording]

    package init(_ recordings: [ScriptedRecording]) {
        self.recordings = Dictionary(uniqueKeysWithValues: recordings.map { ($0.product.productId, $0) })
    }

    package func open(
        _ product: MediaProduct, session: PlaybackSession, cancellation: Cancellation, medium: MediumAccess
    ) throws(PlayerError) -> OpenedProduct {
        guard let recording = recordings[product.productId] else {
            throw PlayerError(.notAllowed, code: "x1", message: "\(product.productId): no such product")
        }
        let decoder: ScriptedDecoder
        do throws(MediaError) { decoder = try recording.open(cancellation, medium) } catch {
            throw PlayerError(error, product)
        }
        return OpenedProduct(decoder: decoder, productId: "actual \(product.productId)", replayGain: ReplayGain())
    }
}

/// A recording of a `ScriptedSource`.
///
/// Any thread.
// @unchecked: `lock` guards the mutable state.
package final class ScriptedRecording: @unchecked Sendable {
    package let product: MediaProduct
    package let format: PCMFormat
    package let samples: [Int32]
    package let tellsLength: Bool
    /// Whether a read returns when its frames cannot be decoded yet, instead of blocking.
    package let answersNotYet: Bool
    /// Whether frames that cannot be decoded yet are missing on the medium. Otherwise the decoder is busy with bytes it
    /// has.
    package let isMediumSlow: Bool
    private let lock = Lock()
    // Guarded by `lock`.
    private var isOpenable: Bool
    private var availableFrames: Int
    private var failure: MediaError?
    private var seeksPass = true
    private var seeksBegun = 0
    private var openDecoders = 0
    private var waiting: [WakeUp] = []
    private var wakes: [@Sendable () -> Void] = []
    private var notYetAnswers = 0
    private var sleeps = 0

    package var frames: Int { samples.count / format.channelCount }

    /// - Parameter available: frames that can be decoded at first.
    package init(
        _ name: String, frames: Int, rate: Int = 8000, available: Int = .max, isOpenable: Bool = true,
        tellsLength: Bool = true, answersNotYet: Bool = false, isMediumSlow: Bool = true
    ) {
        product = MediaProduct(productType: .track, productId: name, referenceId: name)
        format = PCMFormat(sampleRate: rate, channelCount: 2, bitDepth: 16)
        samples = Track.noise(name, count: frames * 2, bits: 16)
        availableFrames = available
        self.isOpenable = isOpenable
        self.tellsLength = tellsLength
        self.answersNotYet = answersNotYet
        self.isMediumSlow = isMediumSlow
    }

    package func samples(from frame: Int) -> [Int32] { Array(samples[(frame * 2)...]) }
    package func samples(_ range: Range<Int>) -> [Int32] {
        Array(samples[(range.lowerBound * 2)..<(range.upperBound * 2)])
    }

    // MARK: Actions of the test

    /// Lets the opening continue.
    package func letOpen() { change { isOpenable = true } }
    /// Frames up to this one can be decoded from now on.
    package func letDecode(upTo frame: Int = .max) { change { availableFrames = frame } }
    /// Lets the frames that cannot be decoded yet fail.
    package func fail(with error: MediaError) { change { failure = error } }
    package func holdSeeks() { change { seeksPass = false } }
    package func letSeek() { change { seeksPass = true } }

    /// How often a decoder had to seek.
    package var seekCount: Int { lock.withLock { seeksBegun } }
    /// How often a read was answered with "not yet".
    package var notYetCount: Int { lock.withLock { notYetAnswers } }
    /// How often a decoder began to wait for the test.
    package var sleepCount: Int { lock.withLock { sleeps } }
    /// Decoders that live.
    package var decoderCount: Int { lock.withLock { openDecoders } }

    private func change(_ body: () -> Void) {
        let (waiting, wakes) = lock.withLock {
            body()
            defer { self.wakes = [] }
            return (self.waiting, self.wakes)
        }
        for wakeUp in waiting { wakeUp.signal() }
        for wake in wakes { wake() }
    }

    // MARK: For the decoder

    fileprivate func open(
        _ cancellation: Cancellation, _ medium: MediumAccess
    ) throws(MediaError) -> ScriptedDecoder {
        let decoder = ScriptedDecoder(self, cancellation, medium)
        lock.withLock { waiting.append(decoder.wakeUp) }
        while !lock.withLock({ isOpenable }) {
            if let failure = lock.withLock({ failure }) { throw failure }
            try decoder.wait()
        }
        return decoder
    }

    fileprivate func count(_ change: Int) { lock.withLock { openDecoders += change } }
    fileprivate func beganSleep() { lock.withLock { sleeps += 1 } }
    fileprivate func answeredNotYet() { lock.withLock { notYetAnswers += 1 } }

    /// Calls `wake` at once when a frame after `frame` can be decoded, else with the next change.
    fileprivate func whenDecodable(after frame: Int, _ wake: @escaping @Sendable () -> Void) {
        let isReady = lock.withLock {
            if availableFrames > frame || failure != nil { return true }
            wakes = [wake]
            return false
        }
        if isReady { wake() }
    }

    fileprivate func beganSeek() { lock.withLock { seeksBegun += 1 } }

    fileprivate func state() -> (available: Int, failure: MediaError?, seeksPass: Bool) {
        lock.withLock { (availableFrames, failure, seeksPass) }
    }
}

package final class ScriptedDecoder: AudioDecoder {
    package let properties: AudioProperties
    package let metadata = TrackMetadata()
    package let damage = DamageReport()
    fileprivate let wakeUp: WakeUp
    private let recording: ScriptedRecording
    private let cancellation: Cancellation
    private let medium: MediumAccess
    private var position = 0

    fileprivate init(_ recording: ScriptedRecording, _ cancellation: Cancellation, _ medium: MediumAccess) {
        self.recording = recording
        self.cancellation = cancellation
        self.medium = medium
        wakeUp = try! WakeUp()
        properties = AudioProperties(
            format: recording.format, frameCount: recording.tellsLength ? Int64(recording.frames) : nil,
            container: .wav, codec: .pcm, bitRate: nil)
        recording.count(1)
    }

    deinit { recording.count(-1) }

    /// Sleeps until the test changes something.
    fileprivate func wait() throws(MediaError) {
        let outcome = recording.isMediumSlow ? medium.waiting(sleep) : sleep()
        if outcome == .cancelled { throw .source(.cancelled) }
    }

    private func sleep() -> Cancellation.Outcome? {
        recording.beganSleep()
        let outcome = try? cancellation.wait(for: wakeUp.descriptor, .readable, milliseconds: -1)
        wakeUp.clear()
        return outcome
    }

    package func read(into buffer: UnsafeMutableBufferPointer<Int32>) throws(MediaError) -> DecodedRun {
        while true {
            if position >= recording.frames { return .end }
            let state = recording.state()
            let count = min(buffer.count / 2, 500, min(state.available, recording.frames) - position)
            if count > 0 {
                for index in 0..<(count * 2) { buffer[index] = recording.samples[position * 2 + index] }
                position += count
                return .frames(count)
            }
            if let failure = state.failure { throw failure }
            if recording.answersNotYet {
                recording.answeredNotYet()
                return .notYet
            }
            try wait()
        }
    }

    package func whenReadable(_ wake: @escaping @Sendable () -> Void) {
        recording.whenDecodable(after: position, wake)
    }

    package func seek(toFrame frame: Int64) throws(MediaError) {
        recording.beganSeek()
        while !recording.state().seeksPass {
            if let failure = recording.state().failure { throw failure }
            try wait()
        }
        position = Int(min(frame, Int64(recording.frames)))
    }
}
