import Foundation
import Platform

/// A program of this package that writes until it is killed, and says on stdout what it has written.
public final class WriterProcess {
    private let process = Process()
    private let lines: PipeLines

    /// - Parameter program: beside the tests.
    public init(_ program: String, _ arguments: String...) throws {
        let tests = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        process.executableURL = URL(fileURLWithPath: "\(Folder.containing(tests))/\(program)")
        process.arguments = arguments
        let output = Pipe()
        lines = PipeLines(output)
        process.standardOutput = output
        try process.run()
        try output.fileHandleForWriting.close()
    }

    /// The next line that the process says; nil when it has ended.
    public func nextLine() -> String? { lines.next() }

    /// Ends the process at once and waits for its end.
    public func kill() {
        Foundation.kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
    }

    public func waitUntilExit() { process.waitUntilExit() }

    /// Runs a program to its end.
    /// - Returns: its exit code, and what it wrote to stderr.
    public static func run(_ program: String, _ arguments: String...) throws -> (code: Int32, errors: [String]) {
        let process = Process()
        let tests = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        process.executableURL = URL(fileURLWithPath: "\(Folder.containing(tests))/\(program)")
        process.arguments = arguments
        let errors = Pipe()
        process.standardError = errors
        try process.run()
        let text = String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        return (process.terminationStatus, text.split(separator: "\n").map(String.init))
    }
}
