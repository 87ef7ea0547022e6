import CLinux
import Platform

/// Where a user's programs keep what they remember (XDG Base Directory Specification).
enum StateFolder {
    /// Of this process's environment; nil where it names no home.
    static var path: String? { path(stateHome: variable("XDG_STATE_HOME"), home: variable("HOME")) }

    /// - Parameters: values of XDG_STATE_HOME, which counts only when absolute, and HOME.
    static func path(stateHome: String?, home: String?) -> String? {
        if let stateHome, stateHome.utf8.first == UInt8(ascii: "/") { return "\(stateHome)/tonearm" }
        guard let home, !home.isEmpty else { return nil }
        return "\(home)/.local/state/tonearm"
    }

    private static func variable(_ name: String) -> String? {
        getenv(name).map { FileName.text(of: UnsafePointer($0)) }
    }
}
