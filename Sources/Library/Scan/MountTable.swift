import CLinux
import Platform

/// The mounts at, above or below some folders, as listed in /proc/self/mountinfo (proc(5);
/// docs/decisions/usb-sticks.md).
///
/// Thread: one.
final class MountTable {
    /// The descriptor of the mount table. It reports POLLPRI once after any mount or unmount.
    let descriptor: Int32
    private let folders: [[UInt8]]
    private var relevant: [[UInt8]] = []

    /// - Parameter folders: without links and dots.
    /// - Returns: nil without /proc.
    init?(around folders: [String]) {
        descriptor = tonearm_open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC, 0)
        self.folders = folders.map { Array($0.utf8) }
        guard descriptor >= 0 else { return nil }
        relevant = read() ?? []
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    /// Returns whether the mounts around the folders have changed since the last call. Other mounts are ignored.
    func hasChanged() -> Bool {
        guard let now = read(), now != relevant else { return false }
        relevant = now
        return true
    }

    private func read() -> [[UInt8]]? {
        var text: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        guard lseek(descriptor, 0, SEEK_SET) == 0 else { return nil }
        while true {
            let count = CLinux.read(descriptor, &buffer, buffer.count)
            if count < 0, tonearm_errno() == EINTR { continue }
            if count < 0 { return nil }
            if count == 0 { break }
            text += buffer[..<count]
        }
        return Self.mounts(in: text, around: folders)
    }

    /// Returns the mounts, each as its number, device, root and mount point. The options of a mount are left out,
    /// because they may change.
    static func mounts(in text: [UInt8], around folders: [[UInt8]]) -> [[UInt8]] {
        text.split(separator: UInt8(ascii: "\n")).compactMap { line in
            let fields = line.split(separator: UInt8(ascii: " "), maxSplits: 5)
            guard fields.count > 4 else { return nil }
            let place = plain(fields[4])
            guard folders.contains(where: { concerns(place, $0) }) else { return nil }
            return [0, 2, 3, 4].reduce(into: []) { $0 += Array(fields[$1]) + [UInt8(ascii: " ")] }
        }
    }

    private static func concerns(_ place: [UInt8], _ folder: [UInt8]) -> Bool {
        func isIn(_ one: [UInt8], _ other: [UInt8]) -> Bool {
            other == [UInt8(ascii: "/")] || one == other || one.starts(with: other + [UInt8(ascii: "/")])
        }
        return isIn(place, folder) || isIn(folder, place)
    }

    /// Decodes a field: spaces and other special characters are written as `\040`.
    private static func plain(_ field: ArraySlice<UInt8>) -> [UInt8] {
        var plain: [UInt8] = []
        var rest = field
        while let byte = rest.popFirst() {
            let digits = rest.prefix(3)
            if byte == UInt8(ascii: "\\"), digits.count == 3, digits.allSatisfy({ (0x30...0x37).contains($0) }) {
                plain.append(digits.reduce(0) { $0 &* 8 &+ ($1 - 0x30) })
                rest = rest.dropFirst(3)
            } else {
                plain.append(byte)
            }
        }
        return plain
    }
}
