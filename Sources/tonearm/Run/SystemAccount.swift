import Platform

/// A user with its groups. Both are read from the files directly: getpwnam(3) would load libraries, which a static
/// program cannot.
struct SystemAccount: Equatable {
    var user: UInt32
    var group: UInt32
    /// Its further groups.
    var groups: [UInt32]

    /// - Returns: nil when there is no such user, or a file cannot be read.
    init?(named name: String, users: String = "/etc/passwd", groups: String = "/etc/group") {
        do throws(SystemError) {
            self.init(
                named: name, users: try File.contents(of: users, limit: 1 << 20),
                groups: try File.contents(of: groups, limit: 1 << 20))
        } catch {
            return nil
        }
    }

    /// - Parameters:
    ///   - users: the format of passwd(5): lines of `name:password:id:group:…`.
    ///   - groups: the format of group(5): lines of `name:password:id:members`.
    init?(named name: String, users: [UInt8], groups: [UInt8]) {
        guard let fields = Self.lines(users).first(where: { $0.count >= 4 && $0[0] == name }),
            let user = UInt32(fields[2]), let group = UInt32(fields[3])
        else { return nil }
        self.user = user
        self.group = group
        self.groups = Self.lines(groups).compactMap { fields in
            guard fields.count >= 4,
                fields[3].utf8.split(separator: UInt8(ascii: ",")).contains(where: {
                    $0.elementsEqual(name.utf8)
                })
            else { return nil }
            return UInt32(fields[2])
        }
    }

    private static func lines(_ text: [UInt8]) -> [[String]] {
        text.split(separator: UInt8(ascii: "\n")).map { line in
            line.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false).map {
                String(decoding: $0, as: UTF8.self)
            }
        }
    }
}
