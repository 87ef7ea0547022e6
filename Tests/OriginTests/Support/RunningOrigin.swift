import Foundation
import Platform
import TestSupport

/// The built `tonearm-origin`, serving a music folder on a port of the kernel's choice.
final class RunningOrigin {
    private(set) var address = ""
    private let process: TestProcess

    /// Starts it, and waits until it listens and has scanned the folder.
    convenience init(_ music: String, state: String, _ options: String...) throws {
        try self.init(music, state: state, options: options)
    }

    /// - Parameter errors: a pipe if the test reads the errors, with `errorLine`.
    init(_ music: String, state: String, options: [String], errors: TestProcess.Stream = .kept) throws {
        process = try TestProcess(
            TestProcess.path(of: "tonearm-origin"), ["serve", music, "--port", "0", "--state", state] + options,
            errors: errors)
        let line = try self.line { $0.hasPrefix("serving ") }
        guard let words = line.split(separator: " ").last else { throw Unexpected("no address in: \(line)") }
        address = String(words)
        _ = try self.line { $0.contains(" new or changed") }
    }

    /// The next line of its output that is as wanted.
    @discardableResult
    func line(where isWanted: (String) -> Bool) throws -> String { try process.line(where: isWanted) }

    /// The next line of its complaints that is as wanted.
    @discardableResult
    func errorLine(where isWanted: (String) -> Bool) throws -> String { try process.errorLine(where: isWanted) }

    /// Ends it as systemd does.
    func end() throws { try process.terminate() }
}
