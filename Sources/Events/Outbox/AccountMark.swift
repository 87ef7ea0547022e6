/// Marks the account under which an event happened, without its name. Events are delivered only with a login of the
/// same account (docs/playback.md, 19.16).
package struct AccountMark: Equatable, Sendable {
    /// No account is known: there was no login, or the service names no users. Such events go with any login.
    package static let none = AccountMark(rawValue: 0)

    package let rawValue: Int64

    package init(rawValue: Int64) { self.rawValue = rawValue }
}
