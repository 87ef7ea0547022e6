/// A fade-out that was written to the device, with silence after it. The device stops after the fade was
/// heard (docs/decisions/fades.md).
///
/// Thread: the audio thread.
struct FadeOut {
    /// The time limit in nanoseconds from the request. A device that takes longer is stopped during the fade.
    static let limit: Int64 = 25_000_000

    private let silentFrames: Int
    private let deadline: Int64

    /// - Parameters:
    ///   - silentFrames: frames of silence that were written after the fade.
    ///   - now: time of the clock, in nanoseconds.
    init(silentFrames: Int, now: Int64) {
        self.silentFrames = silentFrames
        deadline = now + Self.limit
    }

    /// Frames that are to be heard before the device stops.
    func remainingFrames(delayFrames: Int, now: Int64) -> Int {
        now >= deadline ? 0 : max(0, delayFrames - silentFrames)
    }
}
