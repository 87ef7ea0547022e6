import CLinux

/// The system's clocks at one moment.
public struct SystemTime: Equatable, Sendable {
    /// Nanoseconds since the system's start, suspended time included (CLOCK_BOOTTIME).
    public var sinceBoot: Int64
    /// Identifies the current start of the system.
    public var boot: String
    /// Milliseconds since 1970 by the system's clock; nil unless the kernel reports that it is synchronised.
    public var synchronised: Int64?
    /// The same clock, synchronised or not; nil when it is unknown.
    public var clock: Int64?

    public init(sinceBoot: Int64, boot: String, synchronised: Int64? = nil, clock: Int64? = nil) {
        self.sinceBoot = sinceBoot
        self.boot = boot
        self.synchronised = synchronised
        self.clock = clock
    }
}

/// Reads the system's clocks; tests replace it.
public protocol SystemTimeSource: AnyObject, Sendable {
    func read() -> SystemTime
}

extension SystemTime {
    /// The system's clock in milliseconds since 1970, proved or not.
    public static func clockMilliseconds() -> Int64 { nanoseconds(of: CLOCK_REALTIME) / 1_000_000 }
}

/// The kernel's clocks. Any thread except the audio thread.
public final class KernelTimeSource: SystemTimeSource {
    private let boot: String

    public init() {
        let identifier: [UInt8]
        do throws(SystemError) {
            identifier = try File.contents(of: "/proc/sys/kernel/random/boot_id", limit: 64)
        } catch {
            // Without a boot id each process counts as a different boot, and the time between processes is not counted.
            identifier = Array(SystemRandomSource().uuid().utf8)
        }
        boot = String(decoding: identifier.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
    }

    public func read() -> SystemTime {
        let isSynchronised = tonearm_clock_is_synchronised() != 0
        let clock = SystemTime.clockMilliseconds()
        return SystemTime(
            sinceBoot: nanoseconds(of: CLOCK_BOOTTIME), boot: boot, synchronised: isSynchronised ? clock : nil,
            clock: clock)
    }
}
