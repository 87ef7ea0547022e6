import CLinux
import Foundation
import Platform
import TestSupport

/// The built `tonearm`, run in its own folder, which also holds its state.
public struct Program {
    public let folder: ScratchFolder

    public init() throws { folder = try ScratchFolder() }

    public struct Result: Sendable {
        /// As a shell sees it: 128 and the number of the signal that ended it.
        public let code: Int32
        public let output: String
        public let errors: String

        public var lines: [String] { output.split(separator: "\n").map(String.init) }
        public var errorLines: [String] { errors.split(separator: "\n").map(String.init) }

        /// Each line of the output as JSON.
        public func json() throws -> [JSONValue] { try lines.map { try JSONValue.parse($0) } }
    }

    /// Beside the test bundle that is running.
    public static func path() throws -> String {
        let tests = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        return "\(Folder.containing(tests))/tonearm"
    }

    public var environment: [String: String] {
        [
            "HOME": folder.path, "XDG_STATE_HOME": folder["state"], "PATH": "/usr/bin:/bin", "TERM": "xterm",
            "LANG": "C.UTF-8",
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
    private let process = Process()
    private let lines: PipeLines
    private let errorFile: String
    private var read = ""

    init(_ program: Program, _ arguments: [String], _ otherOutput: FileHandle?) throws {
        process.executableURL = URL(fileURLWithPath: try Program.path())
        process.arguments = arguments
        process.currentDirectoryURL = URL(fileURLWithPath: program.folder.path)
        process.environment = program.environment
        process.standardInput = FileHandle.nullDevice
        let output = Pipe()
        lines = PipeLines(output)
        process.standardOutput = otherOutput ?? output.fileHandleForWriting
        errorFile = program.folder["errors-\(UUID().uuidString)"]
        _ = FileManager.default.createFile(atPath: errorFile, contents: nil)
        process.standardError = FileHandle(forWritingAtPath: errorFile)
        try process.run()
        try output.fileHandleForWriting.close()
    }

    /// The next line of its output; nil at its end.
    public func nextLine() -> String? {
        guard let line = lines.next() else { return nil }
        read += line + "\n"
        return line
    }

    /// Reads until a line of JSON is as wanted.
    @discardableResult
    public func line(where isWanted: (JSONValue) -> Bool) throws -> JSONValue {
        while let line = nextLine() {
            let value = try JSONValue.parse(line)
            if isWanted(value) { return value }
        }
        throw Unexpected("the program ended before it wrote the line; stderr: \(try errors())")
    }

    public func send(_ signal: Int32) { kill(process.processIdentifier, signal) }

    /// Waits for its end.
    public func finish() throws -> Program.Result {
        while nextLine() != nil {}
        process.waitUntilExit()
        let status = process.terminationStatus
        return Program.Result(
            code: process.terminationReason == .uncaughtSignal ? 128 + status : status,
            output: read + lines.rest, errors: try errors())
    }

    private func errors() throws -> String { try String(contentsOfFile: errorFile, encoding: .utf8) }
}
