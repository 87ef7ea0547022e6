import Platform

/// A group of users. It is read from the file directly: getgrnam(3) would load libraries, and a static program cannot
/// do that.
enum UserGroup {
    /// The id of the group with this name; nil when there is none, or the file cannot be read.
    static func id(named name: String, file: String = "/etc/group") -> UInt32? {
        do throws(SystemError) {
            return id(named: name, in: try File.contents(of: file, limit: 1 << 20))
        } catch {
            return nil
        }
    }

    /// - Parameter text: the format of group(5): lines of `name:password:id:members`.
    static func id(named name: String, in text: [UInt8]) -> UInt32? {
        for line in text.split(separator: UInt8(ascii: "\n")) {
            let fields = line.split(separator: UInt8(ascii: ":"), maxSplits: 3, omittingEmptySubsequences: false)
            guard fields.count >= 3, fields[0].elementsEqual(name.utf8) else { continue }
            return UInt32(String(decoding: fields[2], as: UTF8.self))
        }
        return nil
    }
}
