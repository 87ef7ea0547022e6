import Foundation
import Platform
import TestSupport

/// The built `tonearm-origin`, serving a music folder on a port of the kernel's choice.
final class RunningOrigin {
    private(set) var address = ""
    private let process = Process()
    private let lines: PipeLines

    /// Starts it, and waits until it listens and has scanned the folder.
    convenience init(_ music: String, state: String, _ options: String...) throws {
        try self.init(music, state: state, options: options)
    }

    /// - Parameter errors: gets what it complains of.
    init(_ music: String, state: String, options: [String], errors: Pipe? = nil) throws {
        let tests = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        process.executableURL = URL(fileURLWithPath: "\(Folder.containing(tests))/tonearm-origin")
        process.arguments = ["serve", music, "--port", "0", "--state", state] + options
        process.standardInput = FileHandle.nullDevice
        let output = Pipe()
        lines = PipeLines(output)
        process.standardOutput = output.fileHandleForWriting
        if let errors { process.standardError = errors.fileHandleForWriting }
        try process.run()
        try output.fileHandleForWriting.close()
        try errors?.fileHandleForWriting.close()
        let line = try self.line { $0.hasPrefix("serving ") }
        guard let words = line.split(separator: " ").last else { throw Unexpected("no address in: \(line)") }
        address = String(words)
        _ = try self.line { $0.contains(" new or changed") }
    }

    deinit {
        process.terminate()
        process.waitUntilExit()
    }

    /// The next line of its output that is as wanted.
    @discardableResult
    func line(where isWanted: (String) -> Bool) throws -> String {
        while let line = lines.next() { if isWanted(line) { return line } }
        throw Unexpected("the origin ended before it said what is waited for")
    }

    /// Ends it as systemd does.
    func end() {
        process.terminate()
        process.waitUntilExit()
    }
}
