import CLinux

/// The system calls that a program may use, as a program of the kernel's packet filter (seccomp(2)).
///
/// A call that is refused fails with an error. A call by the rules of another processor ends the process.
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

    /// A test of the lower half of an argument.
    public enum Test: Sendable {
        case anyBit(of: UInt32, argument: Int)
        case allBits(of: UInt32, argument: Int)
        case anyOther(than: [UInt32], argument: Int)
    }

    /// A call and its effect.
    public struct Rule: Sendable {
        public var number: UInt32
        public var effect: UInt32
        /// The effect counts only where this is true; otherwise the call is allowed.
        public var test: Test?

        public init(_ number: UInt32, _ effect: UInt32, if test: Test? = nil) {
            self.number = number
            self.effect = effect
            self.test = test
        }
    }

    /// The effects of a filter: SECCOMP_RET_ALLOW, SECCOMP_RET_ERRNO with EPERM and ENOSYS, SECCOMP_RET_KILL_PROCESS.
    public enum Effect {
        public static let allow: UInt32 = 0x7FFF_0000
        public static let refuse: UInt32 = 0x0005_0001
        /// As a kernel that does not know the call: the C library uses an older one.
        public static let lack: UInt32 = 0x0005_0026
        public static let kill: UInt32 = 0x8000_0000
    }

    public let instructions: [Instruction]

    /// A filter of the calls in `rules`, each at most once.
    /// - Parameters:
    ///   - others: the effect on all other calls, as far as the number `last`.
    ///   - last: beyond this number all calls without a rule are lacking.
    public init(_ machine: Machine, _ rules: [Rule], others: UInt32, last: UInt32 = .max) {
        var list = [
            Self.load(Field.machine), Self.jump(ifEqual: machine.rawValue, 1, 0), Self.end(Effect.kill),
            Self.load(Field.number),
        ]
        for rule in rules {
            let body = Self.body(of: rule)
            list += [Self.jump(ifEqual: rule.number, 0, UInt8(body.count))] + body
        }
        list += [Self.jump(ifGreater: last, 0, 1), Self.end(Effect.lack), Self.end(others)]
        instructions = list
    }

    /// Puts it before this process, for ever. Needs tonearm_renounce_privileges.
    /// - Returns: whether the kernel has taken it.
    public func install() -> Bool {
        let bits = instructions.map { $0.bits }
        return bits.withUnsafeBufferPointer { tonearm_filter_system_calls($0.baseAddress, $0.count) == 0 }
    }

    /// It ends in each case, as the argument takes the place of the number.
    private static func body(of rule: Rule) -> [Instruction] {
        switch rule.test {
        case nil: [end(rule.effect)]
        case .anyBit(let mask, let argument):
            [load(Field.argument(argument)), jump(ifAnyOf: mask, 0, 1), end(rule.effect), end(Effect.allow)]
        case .allBits(let mask, let argument):
            [
                load(Field.argument(argument)), and(mask), jump(ifEqual: mask, 0, 1), end(rule.effect),
                end(Effect.allow),
            ]
        case .anyOther(let values, let argument):
            [load(Field.argument(argument))]
                + values.enumerated().map { jump(ifEqual: $1, UInt8(values.count - $0), 0) }
                + [end(rule.effect), end(Effect.allow)]
        }
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

    /// BPF_ALU | BPF_AND | BPF_K
    private static func and(_ mask: UInt32) -> Instruction {
        Instruction(code: 0x54, ifTrue: 0, ifFalse: 0, constant: mask)
    }

    /// BPF_JMP | BPF_JEQ | BPF_K
    private static func jump(ifEqual constant: UInt32, _ ifTrue: UInt8, _ ifFalse: UInt8) -> Instruction {
        Instruction(code: 0x15, ifTrue: ifTrue, ifFalse: ifFalse, constant: constant)
    }

    /// BPF_JMP | BPF_JGT | BPF_K
    private static func jump(ifGreater constant: UInt32, _ ifTrue: UInt8, _ ifFalse: UInt8) -> Instruction {
        Instruction(code: 0x25, ifTrue: ifTrue, ifFalse: ifFalse, constant: constant)
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
