import Glibc

/// Measures parts of the player for `tools/bench`: `Meter KIND ARGUMENTS…`.
///
/// The kinds share one executable, because each executable links the whole player.
@main enum Meter {
    private static let kinds: [(name: String, run: @Sendable ([String]) throws -> Void)] = [
        ("start", StartLatency.run), ("events", EventMeter.run), ("library", LibraryMeter.run),
        ("offline", OfflineMeter.run),
    ]

    static func main() throws {
        let words = CommandLine.arguments.dropFirst()
        guard let kind = kinds.first(where: { $0.name == words.first }) else {
            let names = kinds.map(\.name).joined(separator: "|")
            fail("unknown kind \(words.first ?? "(none)"); usage: Meter \(names) ARGUMENTS…")
        }
        try kind.run(Array(words.dropFirst()))
    }

    /// Writes the mistake in the arguments to stderr and ends the process.
    static func fail(_ message: String) -> Never {
        let bytes = Array("\(message)\n".utf8)
        _ = Glibc.write(STDERR_FILENO, bytes, bytes.count)
        exit(2)
    }
}
