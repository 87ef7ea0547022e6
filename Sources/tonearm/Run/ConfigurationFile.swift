import Appliance
import Board
import Platform

/// The daemon's configuration file, and the files `conf.d/*.conf` beside it, which override it.
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

    /// - Throws: all mistakes in the file and in the files beside it.
    func read() throws(Problems) -> Configuration {
        let (reading, mistakes) = readAround()
        if !mistakes.isEmpty { throw Problems(lines: mistakes) }
        return reading.configuration
    }

    /// Reads the usable lines of the file and of the files beside it, and all mistakes in them.
    func readAround() -> (reading: ConfigurationReading, mistakes: [String]) {
        var mistakes: [String] = []
        var files: [(name: String, bytes: [UInt8])] = []
        for path in paths(&mistakes) {
            do throws(SystemError) {
                files.append((path, try File.contents(of: path, limit: 1 << 20)))
            } catch {
                mistakes.append("\(path): \(error.reason)")
            }
        }
        let reading = ConfigurationReading(files)
        return (reading, mistakes + reading.problems.map { $0.description })
    }

    /// The settings of the lines without mistakes, for commands that need no more.
    var usable: Configuration { readAround().reading.configuration }

    /// The file; before it `tonearm.conf.defaults` beside it, where the system has one; after it `conf.d/*.conf` in the
    /// order of their names.
    private func paths(_ mistakes: inout [String]) -> [String] {
        var paths: [String] = []
        if FileKind(at: "\(path).defaults") == .file { paths.append("\(path).defaults") }
        if !mayBeMissing || FileKind(at: path) != nil { paths.append(path) }
        let folder = "\(Folder.containing(path))/conf.d"
        guard FileKind(at: folder) == .folder else { return paths }
        do throws(SystemError) {
            for entry in try Folder.entries(of: folder) where Self.isConfiguration(entry.name) {
                paths.append("\(folder)/\(entry.name)")
            }
        } catch {
            mistakes.append("\(folder): \(error.reason)")
        }
        return paths
    }

    /// Whether a name ends with .conf and is not hidden.
    private static func isConfiguration(_ name: String) -> Bool {
        name.utf8.first != UInt8(ascii: ".") && name.utf8.suffix(5).elementsEqual(".conf".utf8)
    }
}
