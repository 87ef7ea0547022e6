import Foundation

/// A process of `CutProgram` that writes until it is killed, and reports its writes on stdout.
public final class WriterProcess {
    /// How far apart the file calls are at which tests cut the power: every fifth one, or each with
    /// `TONEARM_ALL_CUTS`.
    public static let cutStride = ProcessInfo.processInfo.environment["TONEARM_ALL_CUTS"] == nil ? 5 : 1

    private let process: TestProcess

    /// - Parameter kind: the kind of writer, as `CutProgram` names it.
    public init(_ kind: String, _ arguments: String...) throws {
        process = try TestProcess(Self.path(), [kind] + arguments)
    }

    /// The next line on the process's stdout; nil when it has ended.
    public func nextLine() throws -> String? { try process.nextLine() }

    /// Ends the process at once and waits for its end.
    public func kill() { process.kill() }

    public func waitUntilExit() throws { try process.waitUntilExit() }

    /// Runs a writer to its end.
    public static func run(_ kind: String, _ arguments: String...) throws -> TestProcess.Result {
        try TestProcess.run(path(), [kind] + arguments)
    }

    private static func path() throws -> String { try TestProcess.path(of: "CutProgram") }
}
