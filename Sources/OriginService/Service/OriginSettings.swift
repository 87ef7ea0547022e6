/// How the service behaves.
public struct OriginSettings: Equatable, Sendable {
    /// The kind of manifest, where the content allows it.
    public enum ManifestKind: String, CaseIterable, Sendable { case bts, dash, hls, emu }

    public var manifest = ManifestKind.dash
    /// How long addresses of content are good, in seconds.
    public var addressLifetime: Int64 = 3600
    /// After how many seconds a player asks again for a track that it keeps offline.
    public var offlineRevalidation: Int64 = 7 * 86_400
    /// How many seconds it plays such a track without having asked. Not less than `offlineRevalidation`.
    public var offlineValidity: Int64 = 14 * 86_400
    /// The token that clients need; nil without.
    public var token: String?
    /// Whether players log in; nobody else is answered then, except with `token`.
    public var requiresLogin = false
    /// Lets the owner decide about logins on a page; nil: at the origin's machine alone.
    public var ownersPassword: String?
    /// The address in manifests; nil: the one that the client used.
    public var publicAddress: String?

    /// The path of ffmpeg, for the qualities LOW and HIGH; nil: lossless is served in their place.
    public var encoder: String?
    /// What may be kept of what was encoded, in bytes.
    public var encodedLimit: Int64 = 4 << 30
    /// Whether FLAC and what was encoded are encrypted (`cbcs`), with keys from the license server of this origin.
    public var isEncrypted = false

    public init() {}
}
