/// Why a manifest cannot be used.
public enum ManifestError: Error, Equatable, Sendable {
    /// Not what its type says. `what` is for people and names the place: "line 12: SegmentTimeline without S".
    case malformed(what: String)
    /// A known format with content that is not supported; `what` names it.
    case unsupported(what: String)
}
