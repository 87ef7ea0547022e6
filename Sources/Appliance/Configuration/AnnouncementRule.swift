/// When the daemon announces its servers (`[discovery] announce`).
package enum AnnouncementRule: Equatable, Sendable {
    /// Two responders on one machine answer each other's queries, and unicast answers reach one of them only.
    case unlessAvahiRuns
    case always
    case never
}
