/// An error that the player raises on a bus: the public face of all that can go wrong inside.
public struct PlayerError: Error, Equatable, Sendable {
    /// The error types of seed 000.
    public enum Kind: Equatable, Sendable {
        /// Catch-all: an internal error, or media that cannot be played.
        case unexpected
        /// subStatus 4032 and 4035.
        case contentNotAvailableInLocation
        /// subStatus 4033.
        case contentNotAvailableForSubscription
        /// subStatus 4010.
        case monthlyStreamQuotaExceeded
        /// Any other refusal, and operations that are not allowed now.
        case notAllowed
        /// subStatus 4007.
        case offliningNotAllowedOnDevice
        /// The server failed for a while: try again later.
        case retryable
        /// The network failed.
        case network
    }

    public var kind: Kind
    /// Names the cause in one to five characters of `[0-9a-z]`, stable between releases. CONTRIBUTING.md lists them.
    public var code: String
    /// What happened and what can be done, for a person.
    public var message: String
    /// The product that the error belongs to.
    public var mediaProduct: MediaProduct?

    public init(_ kind: Kind, code: String, message: String, mediaProduct: MediaProduct? = nil) {
        self.kind = kind
        self.code = code
        self.message = message
        self.mediaProduct = mediaProduct
    }
}
