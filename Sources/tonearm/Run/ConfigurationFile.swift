import Appliance
import Board
import Platform

/// The daemon's configuration file.
struct ConfigurationFile {
    static let standardPath = "/etc/tonearm/tonearm.conf"

    /// All mistakes in the file, a line each.
    struct Problems: Error {
        var lines: [String]
    }

    let path: String
    /// Whether the file may be missing, as the standard file may: all settings have defaults then.
    private let mayBeMissing: Bool

    /// - Parameter path: the path of the file; nil: the standard one.
    init(_ path: String?) {
        self.path = path ?? Self.standardPath
        mayBeMissing = path == nil
    }

    func read() throws(Problems) -> Configuration {
        if mayBeMissing, FileKind(at: path) == nil { return Configuration() }
        let text: [UInt8]
        do throws(SystemError) {
            text = try File.contents(of: path, limit: 1 << 20)
        } catch {
            throw Problems(lines: ["\(path): \(error.reason)"])
        }
        do throws(Configuration.Problems) {
            return try Configuration(parsing: text, file: path)
        } catch {
            throw Problems(lines: error.problems.map { $0.description })
        }
    }

    /// Checks the board profile, which a start reads too.
    static func check(profile: String) throws(Problems) {
        do throws(BoardProfileError) { _ = try BoardProfile(path: profile) } catch {
            throw Problems(lines: error.lines)
        }
    }
}
