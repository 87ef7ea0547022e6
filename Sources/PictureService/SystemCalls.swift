import Confinement

extension SystemCallFilter {
    /// The calls of tonearm-pictures, and no other one: for packets and open files, memory, the time, its limits, and
    /// its end.
    static func ofPictures(_ machine: Machine) -> SystemCallFilter {
        SystemCallFilter(machine, rulesOfPictures(machine), others: Effect.refuse)
    }

    static func rulesOfPictures(_ machine: Machine) -> [Rule] {
        numbers(of: machine).map { Rule($0, Effect.allow) } + conditions(of: machine)
    }

    /// In this order: read, write, close, recvmsg, pread64, pwrite64, writev, brk, munmap, mremap, madvise, futex,
    /// clock_gettime, poll or ppoll, restart_syscall, rt_sigprocmask, rt_sigreturn, exit, exit_group.
    private static func numbers(of machine: Machine) -> [UInt32] {
        switch machine {
        case .intel64:
            // The C library uses both polls.
            [0, 1, 3, 47, 17, 18, 20, 12, 11, 25, 28, 202, 228, 7, 271, 219, 14, 15, 60, 231]
        case .arm64:
            [63, 64, 57, 212, 67, 68, 66, 214, 215, 216, 233, 98, 113, 73, 128, 135, 139, 93, 94]
        case .arm:
            // With times of 32 and 64 bits: the C library calls the old one where a kernel lacks the new one.
            [
                3, 4, 6, 297, 180, 181, 146, 45, 91, 163, 220, 240, 422, 263, 403, 168, 336, 414, 0, 119, 175, 173, 1,
                248,
            ]
        }
    }

    /// mmap without executable memory (PROT_EXEC), and prlimit64 of this process alone.
    private static func conditions(of machine: Machine) -> [Rule] {
        let (mmap, prlimit): (UInt32, UInt32) =
            switch machine {
            case .intel64: (9, 302)
            case .arm64: (222, 261)
            case .arm: (192, 369)
            }
        return [
            Rule(mmap, Effect.refuse, if: .anyBit(of: 4, argument: 2)),
            Rule(prlimit, Effect.refuse, if: .anyBit(of: .max, argument: 0)),
        ]
    }
}
