/// The system that the program runs on.
public struct OperatingSystem: Equatable, Sendable {
    /// The kernel's name.
    public var name: String
    /// The kernel's release: "6.1.0-rpi4".
    public var release: String
    /// The architecture that the program was built for: "aarch64".
    public var machine: String

    /// Reads the release from the kernel; empty when it cannot be read.
    public static var current: OperatingSystem {
        var release: [UInt8] = []
        do throws(SystemError) {
            release = try File.contents(of: "/proc/sys/kernel/osrelease", limit: 64)
        } catch {
            // Ignored: the release only informs.
        }
        return OperatingSystem(
            name: "Linux", release: String(decoding: release.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self),
            machine: architecture)
    }

    /// The name of the machine; empty when it cannot be read.
    public static var hostName: String {
        var name: [UInt8] = []
        do throws(SystemError) { name = try File.contents(of: "/proc/sys/kernel/hostname", limit: 256) } catch {
            // Ignored: the name only informs.
        }
        return String(decoding: name.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
    }

    private static var architecture: String {
        #if arch(arm64)
            "aarch64"
        #elseif arch(arm)
            "armv7"
        #else
            "x86_64"
        #endif
    }
}
