import Foundation
import Platform

/// A program that a test has started: the only way in which tests start one.
///
///     let program = try TestProcess("/bin/sh", ["-c", "echo begun; exec sleep 1000"])
///     try program.nextLine()     // "begun"
///     try program.finish()       // throws TimedOut after 60 s; the program is dead then
///
/// It has its own process group. The group is killed and the program reaped when a wait for it fails, or when this
/// object is deinitialised.
///
/// Thread: one at a time.
public final class TestProcess {
    /// The kinds of stdin, stdout and stderr of a program.
    public enum Stream {
        /// /dev/null.
        case null
        /// A pipe that the test reads; only of stdout and stderr.
        case pipe
        /// A file that has no name; only of stderr, and its end is in errors.
        case kept
        /// A descriptor of the test, which stays open.
        case descriptor(Int32)
    }

    public struct Result: Sendable {
        /// The exit code as a shell sees it: 128 and the number of the signal that ended it.
        public let code: Int32
        /// The output of a pipe, without the lines that the test has read before.
        public let output: [UInt8]
        public let errors: String

        public var text: String { String(decoding: output, as: UTF8.self) }
    }

    public let identifier: pid_t
    /// The name of the program with the first of its arguments, for errors.
    private let name: String
    private let seconds: Double
    /// The lines of pipes; nil for other streams.
    private let outputLines: PipeLines?
    private let errorLines: PipeLines?
    /// The file of stderr; less than 0 if it is none.
    private let errorFile: Int32
    private var exitCode: Int32?

    private static let running = Locked<Set<pid_t>>([])

    /// - Parameters:
    ///   - executable: a path, or a name to be found in `PATH`.
    ///   - environment: nil for that of the test.
    ///   - folder: the working folder; nil for that of the test.
    ///   - seconds: the limit of each wait.
    public init(
        _ executable: String, _ arguments: [String] = [], environment: [String: String]? = nil,
        in folder: String? = nil,
        input: Stream = .null, output: Stream = .pipe, errors: Stream = .kept,
        within seconds: Double = Deadline.standard
    ) throws {
        let shown = [executable.split(separator: "/").last.map(String.init) ?? executable] + arguments.prefix(3)
        name = shown.joined(separator: " ")
        self.seconds = seconds
        var start = ProcessStart()
        defer { start.end() }
        _ = try start.set(input, as: 0)
        outputLines = try start.set(output, as: 1).map { PipeLines($0) }
        let errorEnd = try start.set(errors, as: 2)
        if case .kept = errors { errorFile = errorEnd ?? -1 } else { errorFile = -1 }
        if case .pipe = errors { errorLines = errorEnd.map { PipeLines($0) } } else { errorLines = nil }
        identifier = try start.run(executable, arguments, environment, folder)
        let identifier = identifier
        Self.running.withLock { _ = $0.insert(identifier) }
    }

    deinit {
        kill()
        if errorFile >= 0 { close(errorFile) }
    }

    /// The path of a program of this package, beside the tests.
    public static func path(of program: String) throws -> String {
        let tests = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        return "\(Folder.containing(tests))/\(program)"
    }

    /// Runs a program to its end.
    public static func run(
        _ executable: String, _ arguments: [String], environment: [String: String]? = nil, in folder: String? = nil,
        input: Stream = .null, output: Stream = .pipe, errors: Stream = .kept
    ) throws -> Result {
        let process = try TestProcess(
            executable, arguments, environment: environment, in: folder, input: input, output: output, errors: errors)
        return try process.finish()
    }

    // MARK: Waits

    /// The next line of its stdout; nil at its end.
    public func nextLine() throws -> String? {
        try killed { try outputLines?.next("a line of \(name)", until: $0) }
    }

    /// The next line of its stderr, which is a pipe; nil at its end.
    public func nextErrorLine() throws -> String? {
        try killed { try errorLines?.next("a line of stderr of \(name)", until: $0) }
    }

    /// The next line of its stdout for which `isWanted` is true.
    /// - Parameter what: the awaited line, for the error.
    @discardableResult
    public func line(_ what: String = "the line", where isWanted: (String) throws -> Bool) throws -> String {
        try line(of: outputLines, what, where: isWanted)
    }

    /// The next line of its stderr, which is a pipe, that is as wanted.
    @discardableResult
    public func errorLine(_ what: String = "the line", where isWanted: (String) throws -> Bool) throws -> String {
        try line(of: errorLines, what, where: isWanted)
    }

    private func line(of lines: PipeLines?, _ what: String, where isWanted: (String) throws -> Bool) throws -> String {
        try killed { deadline in
            while let line = try lines?.next("\(what) of \(name)", until: deadline) {
                if try isWanted(line) { return line }
                guard !deadline.hasPassed else { throw deadline.timedOut("\(what) of \(name)") }
            }
            throw Unexpected("\(name) ended before \(what); its log:\n\(log)")
        }
    }

    /// The bytes of stdout after the last line end, as far as they were read.
    public var rest: String { outputLines?.rest ?? "" }

    /// Reads its pipes to their ends and waits for its end.
    public func finish() throws -> Result {
        try killed { deadline in
            let end = "the end of \(name)"
            let output = try outputLines?.toEnd(end, until: deadline) ?? []
            let errors = try errorLines?.toEnd(end, until: deadline) ?? []
            let code = try reaped(until: deadline)
            let text = errorFile >= 0 ? allErrors : String(decoding: errors, as: UTF8.self)
            return Result(code: code, output: output, errors: text)
        }
    }

    /// Waits for its end.
    /// - Returns: its exit code as a shell sees it.
    @discardableResult
    public func waitUntilExit() throws -> Int32 { try killed { try reaped(until: $0) } }

    /// Waits for an effect of the program other than its output. The wait ends when the program ends.
    public func wait(_ what: String, until isTrue: () throws -> Bool) throws {
        try killed { deadline in
            while try !isTrue() {
                guard isRunning else { throw Unexpected("\(name) ended before \(what); its log:\n\(log)") }
                guard !deadline.hasPassed else { throw deadline.timedOut("\(what) of \(name)") }
                Deadline.pause()
            }
        }
    }

    /// Sends SIGTERM and waits for its end.
    @discardableResult
    public func terminate() throws -> Int32 {
        send(SIGTERM)
        return try waitUntilExit()
    }

    // MARK: Signals

    /// Whether it has not been reaped.
    public var isRunning: Bool {
        reap()
        return exitCode == nil
    }

    public func send(_ signal: Int32) {
        // Not reaped: its number belongs to no other process.
        if exitCode == nil { Foundation.kill(identifier, signal) }
    }

    /// Kills its process group, and reaps it.
    public func kill() {
        guard exitCode == nil else { return }
        Self.kill(identifier)
        let deadline = Deadline(within: seconds)
        while isRunning, !deadline.hasPassed { Deadline.pause() }
    }

    /// Kills the programs that tests have started and not waited for.
    static func killAll() { for identifier in running.value { kill(identifier) } }

    private static func kill(_ identifier: pid_t) {
        // kill(2) gives 0 and -1 another meaning.
        guard identifier > 1 else { return }
        Foundation.kill(-identifier, SIGKILL)
        Foundation.kill(identifier, SIGKILL)
    }

    /// Its output on stderr so far; empty when the test reads stderr itself.
    public var allErrors: String {
        guard errorFile >= 0 else { return "" }
        var text: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while case let count = pread(errorFile, &buffer, buffer.count, text.count), count > 0 {
            text += buffer[..<count]
        }
        return String(decoding: text, as: UTF8.self)
    }

    private var log: String {
        [outputLines?.recent ?? "", errorLines?.recent ?? "", allErrors].filter { !$0.isEmpty }.joined(separator: "\n")
    }

    /// Kills the program if `wait` has no success in time.
    private func killed<Value>(_ wait: (Deadline) throws -> Value) throws -> Value {
        do { return try wait(Deadline(within: seconds)) } catch let error as TimedOut {
            kill()
            throw TimedOut(what: error.what, seconds: seconds, log: log)
        }
    }

    private func reaped(until deadline: Deadline) throws -> Int32 {
        while isRunning {
            guard !deadline.hasPassed else { throw deadline.timedOut("the end of \(name)") }
            Deadline.pause()
        }
        return exitCode ?? -1
    }

    private func reap() {
        var status: Int32 = 0
        guard exitCode == nil, case let reaped = waitpid(identifier, &status, WNOHANG), reaped != 0 else { return }
        // WIFSIGNALED and WEXITSTATUS of wait(2), which Swift does not see. If it was reaped elsewhere, its code is
        // lost.
        exitCode = reaped < 0 ? -1 : status & 0x7F != 0 ? 128 + status & 0x7F : status >> 8 & 0xFF
        let identifier = identifier
        Self.running.withLock { _ = $0.remove(identifier) }
    }
}

/// The preparations for the start of a program.
private struct ProcessStart {
    private var actions = posix_spawn_file_actions_t()
    private var attributes = posix_spawnattr_t()
    /// The program's descriptors, which the test closes.
    private var ends: [Int32] = []

    init() {
        posix_spawn_file_actions_init(&actions)
        posix_spawnattr_init(&attributes)
        // As a shell starts it: no signal is blocked or ignored, whatever the process of the tests does.
        var signals = sigset_t()
        sigemptyset(&signals)
        posix_spawnattr_setsigmask(&attributes, &signals)
        sigfillset(&signals)
        posix_spawnattr_setsigdefault(&attributes, &signals)
        posix_spawnattr_setpgroup(&attributes, 0)
        posix_spawnattr_setflags(
            &attributes, Int16(POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
    }

    /// - Returns: the test's end of a pipe, or the file.
    mutating func set(_ stream: TestProcess.Stream, as number: Int32) throws -> Int32? {
        switch stream {
        case .null:
            posix_spawn_file_actions_addopen(&actions, number, "/dev/null", number == 0 ? O_RDONLY : O_WRONLY, 0)
            return nil
        case .pipe:
            var pipe: [Int32] = [-1, -1]
            guard GNU.pipe2(&pipe, O_CLOEXEC) == 0 else { throw Unexpected("pipe: errno \(errno)") }
            ends.append(pipe[1])
            posix_spawn_file_actions_adddup2(&actions, pipe[1], number)
            return pipe[0]
        case .kept:
            let path = FileManager.default.temporaryDirectory.path + "/tonearm-stderr-\(UUID().uuidString)"
            let file = open(path, O_RDWR | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0o600)
            guard file >= 0 else { throw Unexpected("open \(path): errno \(errno)") }
            unlink(path)
            posix_spawn_file_actions_adddup2(&actions, file, number)
            return file
        case .descriptor(let descriptor):
            posix_spawn_file_actions_adddup2(&actions, descriptor, number)
            return nil
        }
    }

    mutating func run(
        _ executable: String, _ arguments: [String], _ environment: [String: String]?, _ folder: String?
    ) throws -> pid_t {
        _ = GNU.addCloseFrom(&actions, 3)
        if let folder { _ = GNU.addChangeFolder(&actions, folder) }
        var words: [UnsafeMutablePointer<CChar>?] = ([executable] + arguments).map { strdup($0) } + [nil]
        var variables = environment.map { $0.map { strdup("\($0.key)=\($0.value)") } + [nil] } ?? []
        defer { for text in words + variables { free(text) } }
        var process: pid_t = 0
        let code =
            environment == nil
            ? posix_spawnp(&process, executable, &actions, &attributes, &words, environ)
            : posix_spawnp(&process, executable, &actions, &attributes, &words, &variables)
        guard code == 0 else { throw Unexpected("\(executable) does not start: \(String(cString: strerror(code)))") }
        return process
    }

    mutating func end() {
        for end in ends { close(end) }
        posix_spawn_file_actions_destroy(&actions)
        posix_spawnattr_destroy(&attributes)
    }
}

/// Functions of glibc that Swift does not see.
private enum GNU {
    typealias Actions = UnsafeMutablePointer<posix_spawn_file_actions_t>

    static let pipe2 = function(
        "pipe2", (@convention(c) (UnsafeMutablePointer<Int32>, Int32) -> Int32).self)
    static let addCloseFrom = function(
        "posix_spawn_file_actions_addclosefrom_np", (@convention(c) (Actions, Int32) -> Int32).self)
    static let addChangeFolder = function(
        "posix_spawn_file_actions_addchdir_np", (@convention(c) (Actions, UnsafePointer<CChar>) -> Int32).self)

    private static func function<Function>(_ name: String, _: Function.Type) -> Function {
        guard let address = dlsym(nil, name) else { preconditionFailure("no \(name) in the C library") }
        return unsafeBitCast(address, to: Function.self)
    }
}
