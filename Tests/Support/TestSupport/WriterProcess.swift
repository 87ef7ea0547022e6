import Foundation

/// A program of this package that writes until it is killed, and reports its writes on stdout.
public final class WriterProcess {
    /// How far apart the file calls are at which tests cut the power: every fifth one, or each with
    /// `TONEARM_ALL_CUTS`.
    public static let cutStride = ProcessInfo.processInfo.environment["TONEARM_ALL_CUTS"] == nil ? 5 : 1

    private let process: TestProcess

    /// - Parameter program: beside the tests.
    public init(_ program: String, _ arguments: String...) throws {
        process = try TestProcess(TestProcess.path(of: program), arguments)
    }

    /// The next line on the process's stdout; nil when it has ended.
    public func nextLine() throws -> String? { try process.nextLine() }

    /// Ends the process at once and waits for its end.
    public func kill() { process.kill() }

    public func waitUntilExit() throws { try process.waitUntilExit() }

    /// Runs a program to its end.
    /// - Returns: its exit code, and the lines of its stderr.
    public static func run(_ program: String, _ arguments: String...) throws -> (code: Int32, errors: [String]) {
        let result = try TestProcess.run(TestProcess.path(of: program), arguments)
        return (result.code, result.errors.split(separator: "\n").map(String.init))
    }
}
