import Testing

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
        let filter = SystemCallFilter(for: machine)
        let (good, bad, conditional) = numbers(machine)
        for number in good {
            #expect(effect(filter, machine: machine.rawValue, number: number) == SystemCallFilter.Effect.allow)
        }
        for number in bad {
            #expect(effect(filter, machine: machine.rawValue, number: number) == SystemCallFilter.Effect.refuse)
        }
        let calls = SystemCallFilter.calls(of: machine).map(\.number)
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

    @Test("ends a process that calls by the rules of another processor", arguments: SystemCallFilter.Machine.allCases)
    func otherMachine(machine: SystemCallFilter.Machine) {
        for other in SystemCallFilter.Machine.allCases where other != machine {
            #expect(
                effect(SystemCallFilter(for: machine), machine: other.rawValue, number: 0)
                    == SystemCallFilter.Effect.kill)
        }
    }
}
