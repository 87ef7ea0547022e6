import Testing

@testable import Confinement
@testable import PictureService

@Suite("The filter of system calls")
struct SystemCallFilterTests {
    /// The kernel's effect on a call: runs the filter's program.
    private func effect(
        _ filter: SystemCallFilter, machine: UInt32, number: UInt32, arguments: [UInt32] = []
    ) -> UInt32 {
        // struct seccomp_data, in words: number, machine, address (2), and two words for each argument.
        var data = [number, machine, 0, 0]
        for index in 0..<6 { data += [index < arguments.count ? arguments[index] : 0, 0] }
        var (at, accumulator) = (0, UInt32(0))
        while filter.instructions.indices.contains(at) {
            let instruction = filter.instructions[at]
            at += 1
            switch instruction.code {
            case 0x20: accumulator = data[Int(instruction.constant) / 4]
            case 0x54: accumulator &= instruction.constant
            case 0x25:
                at += Int(accumulator > instruction.constant ? instruction.ifTrue : instruction.ifFalse)
            case 0x15:
                at += Int(accumulator == instruction.constant ? instruction.ifTrue : instruction.ifFalse)
            case 0x45:
                at += Int(accumulator & instruction.constant != 0 ? instruction.ifTrue : instruction.ifFalse)
            case 0x06: return instruction.constant
            default: Issue.record("instruction \(instruction.code)")
            }
        }
        Issue.record("the program has no end")
        return 0
    }

    /// read and exit_group; openat, socket, clone and execve; mmap and prlimit64.
    private func numbers(_ machine: SystemCallFilter.Machine) -> (good: [UInt32], bad: [UInt32], [UInt32]) {
        switch machine {
        case .intel64: ([0, 231], [257, 2, 41, 56, 59, 0x4000_0000], [9, 302])
        case .arm64: ([63, 94], [56, 198, 220, 221, 1000], [222, 261])
        case .arm: ([3, 248], [322, 5, 281, 120, 11], [192, 369])
        }
    }

    @Test("allows the calls of the list, and refuses all others", arguments: SystemCallFilter.Machine.allCases)
    func list(machine: SystemCallFilter.Machine) {
        let filter = SystemCallFilter.ofPictures(machine)
        let (good, bad, conditional) = numbers(machine)
        for number in good {
            #expect(effect(filter, machine: machine.rawValue, number: number) == SystemCallFilter.Effect.allow)
        }
        for number in bad {
            #expect(effect(filter, machine: machine.rawValue, number: number) == SystemCallFilter.Effect.refuse)
        }
        let calls = SystemCallFilter.rulesOfPictures(machine).map(\.number)
        #expect(Set(calls).count == calls.count)
        let allowed = (0..<UInt32(1000)).filter {
            effect(filter, machine: machine.rawValue, number: $0) == SystemCallFilter.Effect.allow
        }
        #expect(Set(allowed) == Set(calls))
        // Executable memory, and limits of another process.
        for (number, arguments) in zip(conditional, [[0, 4096, 1 | 4], [1]] as [[UInt32]]) {
            #expect(
                effect(filter, machine: machine.rawValue, number: number, arguments: arguments)
                    == SystemCallFilter.Effect.refuse)
        }
        // The kernel takes no longer program from tonearm_filter_system_calls.
        #expect(filter.instructions.count <= 256)
    }

    private typealias Call = (intel64: UInt32?, arm64: UInt32?, arm: UInt32?, arguments: [UInt32])

    /// Calls that the engine needs; those of a privileged program; and those that look unknown to it.
    private static let allowed: [Call] = [
        // read, ioctl, execve, sched_setscheduler, inotify_add_watch, epoll_ctl, timerfd_create, fdatasync, prctl,
        // fchmodat2.
        (0, 63, 3, []), (16, 29, 54, []), (59, 221, 11, []), (144, 119, 156, []), (254, 27, 317, []),
        (233, 21, 251, []), (283, 85, 350, []), (75, 83, 148, []), (157, 167, 172, []), (452, 452, 452, [0, 0, 0o755]),
        // socket: AF_UNIX, AF_INET, AF_INET6, AF_NETLINK.
        (41, 198, 281, [1]), (41, 198, 281, [2]), (41, 198, 281, [10]), (41, 198, 281, [16]),
        // clone of a thread and of fork; mmap to write or to execute; openat and open with a mode.
        (56, 220, 120, [0x3D_0F00]), (56, 220, 120, [0x0120_0011]), (9, 222, 192, [0, 1, 3]), (9, 222, 192, [0, 1, 5]),
        (10, 226, 125, [0, 1, 3]), (257, 56, 322, [0, 0, 0o100, 0o600]), (2, nil, 5, [0, 0o100, 0o644]),
    ]
    private static let refused: [Call] = [
        // mount, reboot, bpf, ptrace, settimeofday, sethostname, init_module, io_uring_setup, unshare, keyctl, seccomp.
        (165, 40, 21, []), (169, 142, 88, []), (321, 280, 386, []), (101, 117, 26, []), (164, 170, 79, []),
        (170, 161, 74, []), (175, 105, 128, []), (425, 425, 425, []), (272, 97, 337, []), (250, 219, 311, []),
        (317, 277, 383, []),
        // AF_PACKET, AF_ALG and AF_VSOCK; a namespace of users; memory to write and to execute; set-user-ID.
        (41, 198, 281, [17]), (41, 198, 281, [38]), (41, 198, 281, [40]), (56, 220, 120, [0x1000_0011]),
        (9, 222, 192, [0, 1, 7]), (10, 226, 125, [0, 1, 5]), (257, 56, 322, [0, 0, 0o100, 0o4755]),
        (268, 53, 333, [0, 0, 0o2755]), (90, nil, 15, [0, 0o4755]), (2, nil, 5, [0, 0o100, 0o4755]),
    ]
    private static let lacking: [Call] = [
        // clone3, openat2, and what Linux 6.12 does not have.
        (435, 435, 435, []), (437, 437, 437, []), (463, 463, 463, []), (0x4000_0000, 0x4000_0000, 0x4000_0000, []),
    ]

    @Test("the engine has its calls and no privileged ones", arguments: SystemCallFilter.Machine.allCases)
    func engine(machine: SystemCallFilter.Machine) {
        let filter = SystemCallFilter.ofEngine(machine)
        let effects = SystemCallFilter.Effect.self
        for (calls, expected) in [
            (Self.allowed, effects.allow), (Self.refused, effects.refuse), (Self.lacking, effects.lack),
        ] {
            for call in calls {
                let numbers: [SystemCallFilter.Machine: UInt32?] = [
                    .intel64: call.intel64, .arm64: call.arm64, .arm: call.arm,
                ]
                guard let number = numbers[machine] ?? nil else { continue }
                let found = effect(filter, machine: machine.rawValue, number: number, arguments: call.arguments)
                #expect(found == expected, "\(number) \(call.arguments)")
            }
        }
        let numbers = SystemCallFilter.rulesOfEngine(machine).map(\.number)
        #expect(Set(numbers).count == numbers.count)
        #expect(filter.instructions.count <= 256)
        // A program of this processor needs set_tls, whose number is far beyond the others.
        let ofTLS = effect(filter, machine: machine.rawValue, number: 0xF_0005)
        #expect(ofTLS == (machine == .arm ? effects.allow : effects.lack))
    }

    @Test("ends a process that calls by the rules of another processor", arguments: SystemCallFilter.Machine.allCases)
    func otherMachine(machine: SystemCallFilter.Machine) {
        for other in SystemCallFilter.Machine.allCases where other != machine {
            #expect(
                effect(SystemCallFilter.ofPictures(machine), machine: other.rawValue, number: 0)
                    == SystemCallFilter.Effect.kill)
        }
    }
}
