import CALSA
import CLinux

/// The steps that bring a device back after a fault. From the state of the device and the result of the last step it
/// decides the next step. The result is a prepared device without frames, or no device.
struct Recovery {
    enum Step: Equatable {
        case prepare
        /// Stop the clock, discard the frames, prepare.
        case dropAndPrepare
        case resume
        /// Wait `Recovery.resumeInterval`, then resume again, because the hardware is still asleep.
        case waitAndResume
        case succeeded
        case gone
    }

    /// Milliseconds between two attempts to resume.
    static let resumeInterval: Int32 = 20
    /// A card that does not wake up within a second is treated as one that cannot resume.
    static let resumeLimit = 50
    /// The most steps other than resuming; a sound device needs two.
    static let stepLimit = 10

    private let fault: DeviceFault
    private var steps = 0
    private var resumes = 0
    private var last: Step?

    init(from fault: DeviceFault) { self.fault = fault }

    /// - Parameter code: the result of alsa-lib for the last step; 0 at first.
    mutating func next(state: PCMState, code: Int32) -> Step {
        let step = decide(state: state, code: code)
        switch step {
        case .resume, .waitAndResume: resumes += 1
        default: steps += 1
        }
        last = step
        return step
    }

    private func decide(state: PCMState, code: Int32) -> Step {
        if fault == .vanished || steps >= Recovery.stepLimit { return .gone }
        if code < 0, DeviceFault(code: code, state: state) == .vanished { return .gone }
        switch state {
        case .open, .disconnected:
            return .gone
        case .prepared:
            return last == .prepare || last == .dropAndPrepare ? .succeeded : .dropAndPrepare
        case .running, .paused, .draining:
            return .dropAndPrepare
        case .setup, .underrun:
            return .prepare
        case .suspended:
            guard let last else { return .resume }
            let asleep = (last == .resume || last == .waitAndResume) && code == -EAGAIN
            return asleep && resumes < Recovery.resumeLimit ? .waitAndResume : .prepare
        }
    }
}
