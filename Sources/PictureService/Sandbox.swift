import Confinement
import Pictures

import CLinux

/// The limits that this process sets itself before it reads foreign bytes.
public struct Sandbox {
    /// The address space in bytes.
    public static let addressSpace: Int64 = 64 << 20
    /// Seconds of the processor for each request.
    static let secondsOfRequest: Int32 = 5
    /// The nice value.
    private static let nice: Int32 = 15
    /// stdin, stdout, stderr, two files, and two that are received before these are closed.
    private static let descriptors: UInt64 = 8
    /// The bytes of a result.
    private static let fileSize: UInt64 = 1 << 20
    /// The part of the address space that stays free: the stack, and the allocator's own.
    private static let spare: Int64 = 2 << 20

    /// The bytes that may be allocated.
    public let memory: Int
    /// Whether the kernel refuses all other system calls.
    public let filtersCalls: Bool

    /// Enters it, for ever.
    ///
    /// A kernel without filters of system calls has the limits alone.
    /// - Returns: nil when a limit could not be set.
    public static func enter() -> Sandbox? {
        Thumbnail.prepare()
        let mapped = mappedBytes() ?? 0
        // A sanitizer and an emulator map far more than the limit.
        let isLimited = mapped < addressSpace
        tonearm_return_memory_early()
        tonearm_ignore_signal(SIGPIPE)
        // A result that is too long is an error of the call that writes it.
        tonearm_ignore_signal(SIGXFSZ)
        tonearm_hide_memory()
        _ = tonearm_set_nice(nice)
        guard tonearm_limit_resource(tonearm_resource_descriptors, descriptors) == 0,
            tonearm_limit_resource(tonearm_resource_file_size, fileSize) == 0,
            tonearm_limit_resource(tonearm_resource_processes, 0) == 0,
            tonearm_limit_resource(tonearm_resource_core, 0) == 0,
            !isLimited || tonearm_limit_resource(tonearm_resource_address_space, UInt64(addressSpace)) == 0,
            tonearm_renounce_privileges() == 0, renewProcessorTime()
        else { return nil }
        let free = addressSpace - (isLimited ? mapped : 0) - spare
        return Sandbox(memory: Int(max(0, free)), filtersCalls: filterCalls())
    }

    /// Gives the next request its time of the processor.
    static func renewProcessorTime() -> Bool { tonearm_limit_processor_time(secondsOfRequest) == 0 }

    private static func filterCalls() -> Bool {
        guard let machine = SystemCallFilter.Machine.current else { return false }
        return SystemCallFilter.ofPictures(machine).install()
    }

    /// The bytes of the address space in use (proc(5), statm).
    private static func mappedBytes() -> Int64? {
        let descriptor = tonearm_open("/proc/self/statm", O_RDONLY | O_CLOEXEC, 0)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var text = [UInt8](repeating: 0, count: 64)
        let count = read(descriptor, &text, text.count)
        var pages: Int64 = 0
        for digit in text.prefix(max(0, count)) {
            guard (0x30...0x39).contains(digit) else { break }
            pages = pages &* 10 &+ Int64(digit - 0x30)
        }
        return pages > 0 ? pages &* Int64(sysconf(Int32(_SC_PAGESIZE))) : nil
    }
}
