/// Why a manifest cannot be used.
public enum ManifestError: Error, Equatable, Sendable {
    /// Content that does not match its type. `what` is for people and names the location: "line 12: SegmentTimeline
    /// without S".
    case malformed(what: String)
    /// A known format with content that is not supported; `what` names it.
    case unsupported(what: String)
}
