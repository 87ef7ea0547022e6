import Database
import Media
import Output
import PCM
import Platform

/// An error on a bus of the player: the public form of all internal errors (docs/playback.md, 6).
public struct PlayerError: Error, Equatable, Sendable {
    /// The kind of error, which an app uses to decide its reaction.
    public enum Kind: Equatable, Sendable {
        /// Catch-all: an internal error, or media that cannot be played.
        case unexpected
        /// subStatus 4032 and 4035.
        case contentNotAvailableInLocation
        /// subStatus 4033.
        case contentNotAvailableForSubscription
        /// subStatus 4010.
        case monthlyStreamQuotaExceeded
        /// Any other refusal, or an operation that is not allowed now.
        case notAllowed
        /// subStatus 4007.
        case offliningNotAllowedOnDevice
        /// The server failed temporarily: retry later.
        case retryable
        /// The network failed.
        case network
    }

    /// The cause, as reported by the module where it happened. Programs decide by this, never by `code`.
    public enum Cause: Equatable, Sendable {
        /// The product cannot be decoded at all, or not to its end. An error of the medium is `.system` instead.
        case media(MediaError)
        /// A file, its medium, or a resource of the system.
        case system(SystemError)
        /// The product's format needs more memory than there is.
        case memory(OutOfMemory)
        /// The device cannot play the product.
        case device(DeviceError)
        /// The player's stored data cannot be read.
        case database(DatabaseError)
        /// The content service refuses the product, with an HTTP status and its own reason.
        case service(status: Int, subStatus: Int?)
        /// Another server has answered in place of the content service: a login page, a filter or a proxy.
        case foreign(status: Int)
        /// The content service's answer cannot be used; `field` is wrong.
        case answer(field: String)
        /// A source refuses the product, with its own code.
        case source(code: String)

        /// The `field` of an answer that is not a JSON object, or has no field of a playbackinfo.
        package static let noAnswer = "json"
    }

    public var kind: Kind
    public var cause: Cause
    /// The failure and the solution, for the user.
    public var message: String
    /// The product that the error belongs to.
    public var mediaProduct: MediaProduct?

    public init(_ kind: Kind, _ cause: Cause, message: String, mediaProduct: MediaProduct? = nil) {
        self.kind = kind
        self.cause = cause
        self.message = message
        self.mediaProduct = mediaProduct
    }

    /// An error with a source's own code.
    public init(_ kind: Kind, code: String, message: String, mediaProduct: MediaProduct? = nil) {
        self.init(kind, .source(code: code), message: message, mediaProduct: mediaProduct)
    }

    /// The code of the cause in one to five characters of `[0-9a-z]`, stable between releases. docs/control.md lists
    /// the codes. For users, logs and clients.
    public var code: String { cause.code }
}

extension PlayerError {
    /// Whether another device has taken over the subscription's right to play (docs/playback.md, 15.6).
    var isLossOfPrivileges: Bool { if case .service(_, subStatus: 4006) = cause { true } else { false } }
}

extension PlayerError.Cause {
    /// Assigns the codes. Only this property does so.
    package var code: String {
        switch self {
        case .media(let error): Self.code(of: error)
        case .system(let error): "s\(error.code)"
        case .memory: "m6"
        case .device(let error): Self.code(of: error)
        case .database(let error): "b\(error.code & 0xFF)"
        // Status and sub-status have at most four digits in every answer of the service.
        case .service(_, let subStatus?) where (0...9999).contains(subStatus): "a\(subStatus)"
        case .service(let status, _), .foreign(let status): "h\(status)"
        case .answer: "a0"
        case .source(let code): code
        }
    }

    private static func code(of error: MediaError) -> String {
        switch error {
        case .notAudio: "m1"
        case .unsupported: "m2"
        case .damaged: "m3"
        case .empty: "m4"
        case .source(.cancelled): "m5"
        case .source(.medium(let error)): "s\(error.code)"
        case .source(.network), .source(.tls): "n1"
        case .source(.meteredLink): "n3"
        case .source(.offlineMode): "a3"
        case .source(.unusable), .source(.foreign(nil, _)): "n2"
        case .source(.foreign(let status?, _)): "h\(status)"
        case .source(.status(let status)): "h\(status)"
        case .source(.integrity): "m7"
        case .protected: "m8"
        case .missingKey: "m9"
        case .license: "m10"
        }
    }

    private static func code(of error: DeviceError) -> String {
        switch error {
        case .absent: "d1"
        case .busy: "d2"
        case .noPermission: "d3"
        case .rateNotSupported: "d4"
        case .channelsNotSupported: "d5"
        case .sampleFormatNotSupported: "d6"
        case .refused: "d7"
        }
    }
}
