import Glibc

/// The sanitizer that the tests were built with. A few measurements make no sense under one: the test says so and is
/// skipped.
public enum Sanitizer {
    /// Memory is counted with what the sanitizer takes.
    public static let isActive = isAddress || isLinked("__tsan_init")

    public static let isAddress = isLinked("__asan_init")

    /// The options of this process, for the programs that a test starts with an environment of its own.
    public static var environment: [String: String] {
        var options: [String: String] = [:]
        for name in ["ASAN_OPTIONS", "TSAN_OPTIONS"] {
            if let value = getenv(name) { options[name] = String(cString: value) }
        }
        return options
    }

    private static func isLinked(_ symbol: String) -> Bool { dlsym(nil, symbol) != nil }
}
