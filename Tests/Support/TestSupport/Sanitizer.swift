import Glibc

/// The sanitizer that the tests were built with. A few measurements make no sense under one: such a test is skipped
/// with a message.
public enum Sanitizer {
    /// Whether memory measurements include that of the sanitizer.
    public static let isActive = isAddress || isLinked("__tsan_init")

    public static let isAddress = isLinked("__asan_init")

    /// The options of this process, for programs that a test starts with another environment.
    public static var environment: [String: String] {
        var options: [String: String] = [:]
        for name in ["ASAN_OPTIONS", "TSAN_OPTIONS"] {
            if let value = getenv(name) { options[name] = String(cString: value) }
        }
        return options
    }

    private static func isLinked(_ symbol: String) -> Bool { dlsym(nil, symbol) != nil }
}
