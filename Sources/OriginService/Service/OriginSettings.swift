/// The settings of the service.
public struct OriginSettings: Equatable, Sendable {
    /// The kind of manifest, where the content allows it.
    public enum ManifestKind: String, CaseIterable, Sendable { case bts, dash, hls, emu }

    public var manifest = ManifestKind.dash
    /// How long addresses of content are valid, in seconds.
    public var addressLifetime: Int64 = 3600
    /// The seconds after which a player re-validates a track that it has downloaded.
    public var offlineRevalidation: Int64 = 7 * 86_400
    /// The seconds for which an offline copy plays without a re-validation. It is not less than `offlineRevalidation`.
    public var offlineValidity: Int64 = 14 * 86_400
    /// The token that clients need; nil without.
    public var token: String?
    /// Whether players log in; other clients are then refused, except with `token`.
    public var requiresLogin = false
    /// The password with which the owner decides about logins on a page; nil: logins are decided only at the origin's
    /// machine.
    public var ownersPassword: String?
    /// The address in manifests; nil: the address that the client used.
    public var publicAddress: String?

    /// The number of players that may stream at once; nil for no limit.
    public var sessions: Int?

    /// The path of ffmpeg, for the qualities LOW and HIGH; nil: lossless is served instead.
    public var encoder: String?
    /// The limit of the encoded files, in bytes.
    public var encodedLimit: Int64 = 4 << 30
    /// Whether FLAC and encoded tracks are encrypted (`cbcs`), with keys from the license server of this origin.
    public var isEncrypted = false

    public init() {}
}
