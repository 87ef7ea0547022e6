import Foundation
import Testing

@testable import Output

@Suite("Recovery of a device")
struct RecoveryTests {
    /// A step that is expected, after the device was found in `state` and the step before had returned `code`.
    struct Turn {
        var state: PCMState
        var code: Int32 = 0
        var step: Recovery.Step
    }

    func run(_ fault: DeviceFault, _ turns: [Turn]) {
        var recovery = Recovery(from: fault)
        for turn in turns {
            #expect(recovery.next(state: turn.state, code: turn.code) == turn.step)
        }
    }

    @Test("after an underrun the device is prepared again")
    func underrun() {
        run(.underrun, [Turn(state: .underrun, step: .prepare), Turn(state: .prepared, step: .succeeded)])
    }

    @Test("a device that wakes up plays from the start of its buffer, not the rest of the old one")
    func suspended() {
        run(
            .suspended,
            [
                Turn(state: .suspended, step: .resume),
                Turn(state: .suspended, code: -EAGAIN, step: .waitAndResume),
                Turn(state: .suspended, code: -EAGAIN, step: .waitAndResume),
                Turn(state: .running, step: .dropAndPrepare),
                Turn(state: .prepared, step: .succeeded),
            ])
    }

    @Test("a card that cannot resume is prepared")
    func cannotResume() {
        run(
            .suspended,
            [
                Turn(state: .suspended, step: .resume),
                Turn(state: .suspended, code: -ENOSYS, step: .prepare),
                Turn(state: .prepared, step: .succeeded),
            ])
    }

    @Test("a card that never wakes up is given up")
    func sleepsForEver() {
        var recovery = Recovery(from: .suspended)
        var steps: [Recovery.Step] = []
        repeat {
            steps.append(recovery.next(state: .suspended, code: -EAGAIN))
        } while steps.last != .gone && steps.count < 1_000
        #expect(steps.last == .gone)
        #expect(steps.count { $0 == .waitAndResume } == Recovery.resumeLimit - 1)
        #expect(steps.count { $0 == .prepare } == Recovery.stepLimit)
    }

    @Test("a device that is gone is not tried", arguments: [PCMState.disconnected, .open])
    func gone(state: PCMState) {
        run(.failed(code: -EIO), [Turn(state: state, step: .gone)])
        run(.vanished, [Turn(state: .running, step: .gone)])
    }

    @Test("a device that goes while it is brought back is gone", arguments: [-ENODEV, -ENXIO, -ENOTTY])
    func goesMeanwhile(code: Int32) {
        run(.underrun, [Turn(state: .underrun, step: .prepare), Turn(state: .underrun, code: code, step: .gone)])
    }

    @Test("after any failure the frames are dropped", arguments: [PCMState.prepared, .running, .paused, .draining])
    func failed(state: PCMState) {
        run(
            .failed(code: -EIO),
            [Turn(state: state, step: .dropAndPrepare), Turn(state: .prepared, step: .succeeded)])
    }

    @Test("a device that fails again and again is given up")
    func bounded() {
        var recovery = Recovery(from: .underrun)
        let steps = (0...Recovery.stepLimit).map { _ in recovery.next(state: .underrun, code: -EIO) }
        #expect(steps.dropLast().allSatisfy { $0 == .prepare })
        #expect(steps.last == .gone)
    }
}

@Suite("The answers of alsa-lib")
struct ALSAAnswerTests {
    @Test(
        "negated errno of an open device",
        arguments: [
            (-EPIPE, .running, .underrun),
            (-ESTRPIPE, .running, .suspended),
            (-ENODEV, .running, .vanished),
            (-ENXIO, .running, .vanished),
            (-ENOTTY, .running, .vanished),
            (-EBADFD, .disconnected, .vanished),
            (-EBADFD, .setup, .failed(code: -EBADFD)),
            (-EIO, .running, .failed(code: -EIO)),
        ] as [(Int32, PCMState, DeviceFault)])
    func faults(code: Int32, state: PCMState, expected: DeviceFault) {
        #expect(DeviceFault(code: code, state: state) == expected)
    }

    @Test(
        "negated errno of opening",
        arguments: [
            (-EBUSY, .busy(device: "hw:0")),
            (-EAGAIN, .busy(device: "hw:0")),
            (-EACCES, .noPermission(device: "hw:0")),
            (-EPERM, .noPermission(device: "hw:0")),
            (
                -EINVAL,
                .refused(
                    device: "hw:0", code: -EINVAL, reason: "ALSA does not understand this name or its arguments")
            ),
        ] as [(Int32, DeviceError)])
    func opening(code: Int32, expected: DeviceError) {
        let failure = ALSAFailure(code: code)
        #expect(DeviceError(opening: "hw:0", failure: failure, configuration: .builtIn) == expected)
    }
}
