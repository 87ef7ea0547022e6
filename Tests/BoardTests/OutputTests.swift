@testable import Board
import Testing

@Suite("The amplifier does not pop")
struct AmplifierSequenceTests {
    enum Call { case want, started, restart, release, lost, advance }
    typealias Step = AmplifierSequence.Step

    static let amplifier = BoardAmplifier(
        line: LineReference(chip: "c", line: .offset(4)), active: .high, role: .mute, muteBeforeStart: 10,
        unmuteAfterStart: 20, muteBeforeStop: 30)

    static let cases: [(String, [(Call, Int64, [Step])])] = [
        (
            "muted for 10 ms before the start, until 20 ms after it, and from 30 ms before the stop",
            [
                (.want, 2, []), (.advance, 9, []), (.advance, 10, [.startDevice]), (.started, 15, []),
                (.advance, 34, []),
                (.advance, 35, [.unmute]), (.release, 100, [.mute]), (.advance, 129, []),
                (.advance, 130, [.stopDevice]),
            ]
        ),
        ("muted for long: the device starts at once", [(.want, 500, [.startDevice])]),
        (
            "stopped and wanted again at once: muted for long enough before the next start",
            [
                (.want, 100, [.startDevice]), (.started, 100, []), (.advance, 120, [.unmute]), (.release, 200, [.mute]),
                (.advance, 230, [.stopDevice]), (.want, 231, [.startDevice]),
            ]
        ),
        (
            "wanted again before it stopped: it keeps running",
            [
                (.want, 100, [.startDevice]), (.started, 100, []), (.advance, 120, [.unmute]), (.release, 200, [.mute]),
                (.want, 210, [.unmute]), (.advance, 1000, []),
            ]
        ),
        (
            "not wanted any more while it settles: nothing was heard, it stops at once",
            [
                (.want, 100, [.startDevice]), (.started, 100, []), (.release, 110, [.stopDevice]), (.advance, 1000, []),
            ]
        ),
        ("not wanted any more before it started", [(.want, 2, []), (.release, 5, []), (.advance, 1000, [])]),
        (
            "not wanted any more while it was starting; the late start changes nothing",
            [
                (.want, 100, [.startDevice]), (.release, 101, [.stopDevice]), (.started, 102, []), (.advance, 1000, []),
            ]
        ),
        (
            "gone in the middle of the music: muted, and it starts again as ever",
            [
                (.want, 100, [.startDevice]), (.started, 100, []), (.advance, 120, [.unmute]), (.lost, 200, [.mute]),
                (.want, 205, []), (.advance, 210, [.startDevice]), (.started, 211, []), (.advance, 231, [.unmute]),
            ]
        ),
        (
            "reopened in the middle of the music: muted for as long as before a stop and a start",
            [
                (.want, 100, [.startDevice]), (.started, 100, []), (.advance, 120, [.unmute]), (.restart, 200, [.mute]),
                (.restart, 210, []), (.started, 211, []), (.advance, 229, []), (.advance, 230, [.startDevice]),
                (.started, 235, []), (.advance, 254, []), (.advance, 255, [.unmute]),
            ]
        ),
        (
            "reopened while it is muted anyhow: at once, but not before a stop could have been",
            [
                (.want, 100, [.startDevice]), (.restart, 101, [.startDevice]), (.started, 102, []),
                (.restart, 110, [.startDevice]), (.started, 111, []), (.advance, 131, [.unmute]),
                (.release, 200, [.mute]),
                (.restart, 205, []), (.advance, 229, []), (.advance, 230, [.startDevice]),
            ]
        ),
        (
            "not wanted any more before it was reopened, and wanted again: muted for long enough all the same",
            [
                (.want, 100, [.startDevice]), (.started, 100, []), (.advance, 120, [.unmute]), (.restart, 200, [.mute]),
                (.release, 201, []), (.want, 202, []), (.advance, 230, [.startDevice]),
            ]
        ),
        (
            "wanting, releasing and losing twice is once",
            [
                (.want, 100, [.startDevice]), (.want, 101, []), (.started, 102, []), (.started, 103, []),
                (.advance, 122, [.unmute]), (.release, 200, [.mute]), (.release, 210, []),
                (.advance, 230, [.stopDevice]),
                (.lost, 231, []), (.lost, 232, []),
            ]
        ),
    ]

    @Test("sequences", arguments: cases)
    func sequence(name: String, calls: [(Call, Int64, [Step])]) {
        var sequence = AmplifierSequence(Self.amplifier, mutedAt: 0)
        for (call, time, expected) in calls {
            let now = time * 1_000_000
            let steps =
                switch call {
                case .want: sequence.wantDevice(at: now)
                case .started: sequence.deviceStarted(at: now)
                case .restart: sequence.restartDevice(at: now)
                case .release: sequence.releaseDevice(at: now)
                case .lost: sequence.deviceLost(at: now)
                case .advance: sequence.advance(to: now)
                }
            #expect(steps == expected, "\(name), at \(time) ms")
            #expect(sequence.deadline.map { $0 > now } ?? true, "\(name), at \(time) ms")
        }
    }
}

@Suite("The lights' conditions")
struct LightPolicyTests {
    func policy(_ patterns: [LightCondition: LightPattern]...) -> LightPolicy {
        LightPolicy(
            patterns.map {
                BoardLight(name: "l", line: LineReference(chip: "c", line: .offset(0)), active: .high, patterns: $0)
            })
    }

    @Test(
        "the most urgent of the conditions that a light has a pattern for",
        arguments: [
            ([], [false, false]),
            ([.playing], [true, false]),
            ([.paused], [false, false]),
            ([.playing, .offline], [true, true]),
            ([.error, .playing], [false, false]),
            ([.boot, .offline], [false, true]),
        ] as [(Set<LightCondition>, [Bool])])
    func conditions(conditions: Set<LightCondition>, expected: [Bool]) {
        var policy = policy([.playing: .on, .error: .off], [.offline: .on, .error: .off])
        policy.show(conditions, at: 0)
        #expect(policy.isLit == expected)
        #expect(policy.deadline == nil)
    }

    @Test(
        "blinking has its times",
        arguments: [
            (.slow, [1000, 2000, 3000, 4000]), (.fast, [200, 400, 600, 800]), (.flash, [100, 2000, 2100, 4000]),
        ] as [(LightPattern, [Int64])])
    func patterns(pattern: LightPattern, changes: [Int64]) {
        var policy = policy([.boot: pattern])
        policy.show([.boot], at: 0)
        var seen: [Int64] = []
        for index in 0..<4 {
            #expect(policy.isLit == [index.isMultiple(of: 2)])
            guard let deadline = policy.deadline else { break }
            policy.advance(to: deadline - 1)
            #expect(policy.isLit == [index.isMultiple(of: 2)])
            policy.advance(to: deadline)
            seen.append(deadline / 1_000_000)
        }
        #expect(seen == changes)
    }

    @Test("a pattern that stays is not disturbed, a late call does not catch up on missed changes")
    func steadiness() {
        var policy = policy([.paused: .slow, .offline: .slow])
        policy.show([.paused], at: 0)
        policy.show([.paused, .offline], at: 500_000_000)
        #expect(policy.deadline == 1_000_000_000)
        policy.advance(to: 60_000_000_000)
        #expect(policy.isLit == [false])
        #expect(policy.deadline == 61_000_000_000)
        policy.show([], at: 60_000_000_000)
        #expect(policy.isLit == [false])
        #expect(policy.deadline == nil)
    }

    @Test("a light in its idle state wakes the board at most twice a second", arguments: [LightPattern.slow, .flash])
    func idle(pattern: LightPattern) {
        var policy = policy([.paused: pattern])
        policy.show([.paused], at: 0)
        var count = 0
        while let deadline = policy.deadline, deadline <= 10_000_000_000 {
            policy.advance(to: deadline)
            count += 1
        }
        #expect(count == 10)
    }
}
