import CLinux
import Platform

/// The folder for the state of a user's programs (XDG Base Directory Specification).
enum StateFolder {
    /// The folder from this process's environment; nil when there is no home.
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
