import Glibc
import Platform

/// The mounts at, above or below a folder, by /proc/self/mountinfo (proc(5)).
///
/// Thread: one.
final class MountTable {
    /// Has POLLPRI after any mount or unmount, until it is polled once.
    let descriptor: Int32
    private let folder: String
    private var relevant: [String] = []

    /// - Parameter folder: the folder, without links and dots.
    /// - Returns: nil without /proc.
    init?(around folder: String) {
        descriptor = open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC)
        self.folder = folder
        guard descriptor >= 0 else { return nil }
        relevant = read() ?? []
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    /// Returns whether the mounts around the folder have changed since the last call. Other mounts do not matter.
    func hasChanged() -> Bool {
        guard let now = read(), now != relevant else { return false }
        relevant = now
        return true
    }

    private func read() -> [String]? {
        var text: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        guard lseek(descriptor, 0, SEEK_SET) == 0 else { return nil }
        while true {
            let count = Glibc.read(descriptor, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            if count < 0 { return nil }
            if count == 0 { break }
            text += buffer[..<count]
        }
        return Self.mounts(in: text, around: folder)
    }

    /// Returns the mounts, each as its number, device, root and mount point: the options of a mount may change.
    static func mounts(in text: [UInt8], around folder: String) -> [String] {
        text.split(separator: UInt8(ascii: "\n")).compactMap { line in
            let fields = line.split(separator: UInt8(ascii: " "), maxSplits: 5)
            guard fields.count > 4, concerns(plain(fields[4]), Array(folder.utf8)) else { return nil }
            return [0, 2, 3, 4].map { String(decoding: fields[$0], as: UTF8.self) }.joined(separator: " ")
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
            if byte == UInt8(ascii: "\\"), rest.count >= 3,
                let value = UInt8(String(decoding: rest.prefix(3), as: UTF8.self), radix: 8)
            {
                plain.append(value)
                rest.removeFirst(3)
            } else {
                plain.append(byte)
            }
        }
        return plain
    }
}
