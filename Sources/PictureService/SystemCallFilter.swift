/// The system calls that a program may use, as a program of the kernel's packet filter (seccomp(2)).
///
/// A call that is not in the list fails with EPERM. A call by the rules of another processor ends the process.
public struct SystemCallFilter {
    /// The processor, and its number in linux/audit.h.
    public enum Machine: UInt32, CaseIterable, Sendable {
        case intel64 = 0xC000_003E
        case arm64 = 0xC000_00B7
        case arm = 0x4000_0028

        /// The processor of this program; nil without a list.
        public static var current: Machine? {
            #if arch(x86_64)
                .intel64
            #elseif arch(arm64)
                .arm64
            #elseif arch(arm)
                .arm
            #else
                nil
            #endif
        }
    }

    /// An instruction of linux/filter.h.
    public struct Instruction: Equatable, Sendable {
        public let code: UInt16
        public let ifTrue: UInt8
        public let ifFalse: UInt8
        public let constant: UInt32

        /// In the form of tonearm_filter_system_calls.
        var bits: UInt64 {
            UInt64(code) | UInt64(ifTrue) << 16 | UInt64(ifFalse) << 24 | UInt64(constant) << 32
        }
    }

    /// A condition for a call of the list.
    struct Call {
        let number: UInt32
        /// An argument, and the bits that have to be clear in its lower half.
        var clear: (argument: Int, mask: UInt32)?
    }

    /// The effects of a filter: SECCOMP_RET_ALLOW, SECCOMP_RET_ERRNO with EPERM, SECCOMP_RET_KILL_PROCESS.
    public enum Effect {
        public static let allow: UInt32 = 0x7FFF_0000
        public static let refuse: UInt32 = 0x0005_0001
        public static let kill: UInt32 = 0x8000_0000
    }

    public let instructions: [Instruction]

    /// The calls of tonearm-pictures.
    public init(for machine: Machine) { self.init(machine, Self.calls(of: machine)) }

    init(_ machine: Machine, _ calls: [Call]) {
        var list = [
            Self.load(Field.machine), Self.jump(ifEqual: machine.rawValue, 1, 0), Self.end(Effect.kill),
            Self.load(Field.number),
        ]
        for call in calls {
            guard let clear = call.clear else {
                list += [Self.jump(ifEqual: call.number, 0, 1), Self.end(Effect.allow)]
                continue
            }
            list += [
                Self.jump(ifEqual: call.number, 0, 4), Self.load(Field.argument(clear.argument)),
                Self.jump(ifAnyOf: clear.mask, 1, 0), Self.end(Effect.allow), Self.end(Effect.refuse),
            ]
        }
        instructions = list + [Self.end(Effect.refuse)]
    }

    /// Offsets in struct seccomp_data of a processor that stores the lower bytes first.
    private enum Field {
        static let number: UInt32 = 0
        static let machine: UInt32 = 4
        /// The lower half of an argument.
        static func argument(_ index: Int) -> UInt32 { 16 + 8 * UInt32(index) }
    }

    /// BPF_LD | BPF_W | BPF_ABS
    private static func load(_ offset: UInt32) -> Instruction {
        Instruction(code: 0x20, ifTrue: 0, ifFalse: 0, constant: offset)
    }

    /// BPF_JMP | BPF_JEQ | BPF_K
    private static func jump(ifEqual constant: UInt32, _ ifTrue: UInt8, _ ifFalse: UInt8) -> Instruction {
        Instruction(code: 0x15, ifTrue: ifTrue, ifFalse: ifFalse, constant: constant)
    }

    /// BPF_JMP | BPF_JSET | BPF_K
    private static func jump(ifAnyOf mask: UInt32, _ ifTrue: UInt8, _ ifFalse: UInt8) -> Instruction {
        Instruction(code: 0x45, ifTrue: ifTrue, ifFalse: ifFalse, constant: mask)
    }

    /// BPF_RET | BPF_K
    private static func end(_ effect: UInt32) -> Instruction {
        Instruction(code: 0x06, ifTrue: 0, ifFalse: 0, constant: effect)
    }
}
