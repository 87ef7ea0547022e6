import CLinux
import Foundation
import Platform
import TestSupport

/// The built `tonearm`, run in its own folder, which also holds its state.
public struct Program {
    public let folder: ScratchFolder

    public init() throws { folder = try ScratchFolder() }

    public struct Result: Sendable {
        /// The exit code as a shell sees it: 128 and the number of the signal that ended it.
        public let code: Int32
        public let output: String
        public let errors: String

        public var lines: [String] { output.split(separator: "\n").map(String.init) }
        public var errorLines: [String] { errors.split(separator: "\n").map(String.init) }

        /// Each line of the output as JSON.
        public func json() throws -> [JSONValue] { try lines.map { try JSONValue.parse($0) } }
    }

    /// The path of the program beside the test bundle that is running.
    public static func path() throws -> String { try TestProcess.path(of: "tonearm") }

    public var environment: [String: String] {
        [
            "HOME": folder.path, "XDG_STATE_HOME": folder["state"], "PATH": "/usr/bin:/bin", "TERM": "xterm",
            "LANG": "C.UTF-8", "TONEARM_STOP_LIMIT": "30000",
        ].merging(Sanitizer.environment) { one, _ in one }
    }

    /// Runs it to its end.
    public func run(_ arguments: String...) throws -> Result { try start(arguments).finish() }

    /// - Parameter output: the descriptor for stdout; nil for the test's pipe.
    public func start(_ arguments: [String], output: FileHandle? = nil) throws -> RunningProgram {
        try RunningProgram(self, arguments, output)
    }

    /// A device that writes little-endian 16 bit samples to a file of the folder.
    public func device(_ name: String) -> [String] {
        ["--device", "file:FILE=\(folder[name]),FORMAT=raw", "--format", "S16_LE"]
    }

    public func bytes(_ name: String) throws -> [UInt8] {
        Array(try Data(contentsOf: URL(fileURLWithPath: folder[name])))
    }

    public func write(_ bytes: [UInt8], to name: String) throws {
        try Data(bytes).write(to: URL(fileURLWithPath: folder[name]))
    }

    public func remove(_ name: String) throws { try FileManager.default.removeItem(atPath: folder[name]) }
}

/// `tonearm` while it runs.
public final class RunningProgram {
    private let process: TestProcess
    private var read = ""

    init(_ program: Program, _ arguments: [String], _ otherOutput: FileHandle?) throws {
        process = try TestProcess(
            Program.path(), arguments, environment: program.environment, in: program.folder.path,
            output: otherOutput.map { .descriptor($0.fileDescriptor) } ?? .pipe)
    }

    /// The next line of its output; nil at its end.
    public func nextLine() throws -> String? {
        guard let line = try process.nextLine() else { return nil }
        read += line + "\n"
        return line
    }

    /// Reads until a line of JSON is as wanted.
    @discardableResult
    public func line(where isWanted: (JSONValue) -> Bool) throws -> JSONValue {
        var found: JSONValue?
        try process.line { line in
            read += line + "\n"
            let value = try JSONValue.parse(line)
            if isWanted(value) { found = value }
            return found != nil
        }
        guard let found else { throw Unexpected("no line") }
        return found
    }

    /// Waits for an effect of the program other than its output.
    public func wait(_ what: String, until isTrue: () -> Bool) throws { try process.wait(what, until: isTrue) }

    public func send(_ signal: Int32) { process.send(signal) }

    /// Waits for its end.
    public func finish() throws -> Program.Result {
        let result = try process.finish()
        return Program.Result(code: result.code, output: read + result.text, errors: result.errors)
    }
}
