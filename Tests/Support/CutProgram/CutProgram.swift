import Glibc

/// Writes to files in a process that a test cuts off, kills or watches: `CutProgram KIND ARGUMENTS…`.
///
/// The kinds share one executable, because each executable links the whole player.
@main enum CutProgram {
    private static let kinds: [(name: String, run: @Sendable ([String]) throws -> Void)] = [
        ("key-values", KeyValueWriter.run), ("events", EventWriter.run), ("cache", CacheWriter.run),
        ("offline", OfflineWriter.run), ("queue", QueueWriter.run), ("state", StateOpener.run),
    ]

    static func main() throws {
        let words = CommandLine.arguments.dropFirst()
        guard let kind = kinds.first(where: { $0.name == words.first }) else {
            let names = kinds.map(\.name).joined(separator: "|")
            fail("unknown kind \(words.first ?? "(none)"); usage: CutProgram \(names) ARGUMENTS…", code: 2)
        }
        try kind.run(Array(words.dropFirst()))
    }

    /// Writes a line to stdout at once.
    static func say(_ line: String) { write(line, to: STDOUT_FILENO) }

    /// Writes the reason to stderr and ends the process.
    static func fail(_ message: String, code: Int32) -> Never {
        write(message, to: STDERR_FILENO)
        exit(code)
    }

    private static func write(_ line: String, to descriptor: Int32) {
        let bytes = Array("\(line)\n".utf8)
        _ = Glibc.write(descriptor, bytes, bytes.count)
    }
}
