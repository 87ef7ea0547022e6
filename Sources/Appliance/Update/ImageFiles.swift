import Platform

/// The properties of the running firmware image, from its files.
struct ImageFiles {
    /// The board and the version, from /etc/tonearm-release.
    var board: String
    var version: String
    /// The public key that verifies updates: an uncompressed point on P-256, 65 bytes.
    var key: [UInt8]
    /// The partition of the slot that is not running.
    var otherSlot: String

    /// - Parameter root: the folder of the root file system; empty outside of tests.
    init(root: String) throws(UpdateError) {
        let release = root + "/etc/tonearm-release"
        let disk = root + "/run/disk"
        let key = root + "/etc/tonearm/update-key"
        let lines = try Self.lines(of: release)
        guard let board = Self.value("board", in: lines), let version = Self.value("version", in: lines)
        else { throw .damagedImage(path: release) }
        guard let slot = Self.value("other", in: try Self.lines(of: disk)) else { throw .damagedImage(path: disk) }
        guard FileKind(at: key) != nil else { throw .noKey }
        guard let bytes = Hexadecimal.bytes(try Self.lines(of: key).first ?? "") else {
            throw .damagedImage(path: key)
        }
        (self.board, self.version, self.key, otherSlot) = (board, version, bytes, slot)
    }

    private static func lines(of path: String) throws(UpdateError) -> [String] {
        let bytes: [UInt8]
        do throws(SystemError) { bytes = try File.contents(of: path, limit: 4096) } catch { throw .noImage(error) }
        return bytes.split(separator: UInt8(ascii: "\n")).map { String(decoding: $0, as: UTF8.self) }
    }

    private static func value(_ name: String, in lines: [String]) -> String? {
        for line in lines where line.utf8.starts(with: "\(name)=".utf8) {
            return String(Substring(line.utf8.dropFirst(name.utf8.count + 1)))
        }
        return nil
    }
}
