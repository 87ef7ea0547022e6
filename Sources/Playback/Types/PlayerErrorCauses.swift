import Crypto
import Database
import Fetching
import Media
import Output
import PCM
import Platform

// Converts errors of the modules below into the player's public ones. Only this file does so.

extension PlayerError {
    /// A product that cannot be decoded, or not to its end.
    public init(_ error: MediaError, _ product: MediaProduct) {
        if case .source(.medium(let error)) = error {
            self.init(error, product)
            return
        }
        let isOfWeb = WebFileAddress.isMeant(by: product.productId)
        let reason = isOfWeb ? error.reasonOfWebFile : nil
        let message = "\(product.productId): \(reason ?? Self.reason(of: error))"
        let kind = isOfWeb ? error.kindOfWebFile : nil
        self.init(kind ?? Self.kind(of: error), .media(error), message: message, mediaProduct: product)
    }

    package static func kind(of error: MediaError) -> Kind {
        switch error {
        case .source(.network), .source(.tls), .source(.meteredLink): .network
        case .source(.offlineMode): .notAllowed
        case .source(.status(let status)): ServiceRefusal(status: status, isOfService: true).kind
        case .source(.foreign(_?, _)): .retryable
        default: .unexpected
        }
    }

    private static func reason(of error: MediaError) -> String {
        switch error {
        case .notAudio(let looksLike):
            let guess = looksLike.map { " (looks like \($0))" } ?? ""
            return "not audio\(guess). Supported: \(AudioFormats.supported)."
        case .unsupported(let what): return "\(what) is not supported. Supported: \(AudioFormats.supported)."
        case .damaged(let what): return "damaged: \(what)."
        case .protected(let systems):
            return "protected by \(systems), and this program cannot get its keys. Play a version without protection."
        case .missingKey(let id): return "encrypted, and the key \(hexadecimal(id)) is missing."
        case .license(let reason): return "the license server gives no keys: \(reason)."
        case .empty: return "the file is empty."
        case .source(.cancelled): return "cancelled."
        case .source(.medium(let error)): return error.reason
        case .source(.network(let reason)), .source(.tls(let reason)): return "the network failed: \(reason)."
        case .source(.meteredLink): return "the way to it is a metered link, which may not be used for this."
        case .source(.offlineMode): return "it has no offline copy, and the player is in offline mode ([offline] only)."
        case .source(.status(let status)): return "the server answered with status \(status)."
        case .source(.unusable(let reason)), .source(.foreign(_, let reason)): return "\(reason)."
        case .source(.integrity(let reason)): return "the content is damaged: \(reason)."
        }
    }

    /// The content service, or a server that it names, does not deliver.
    package init(_ failure: ResourceFailure, _ product: MediaProduct) {
        switch failure {
        case .refused(let refusal):
            let cause =
                refusal.isForeign
                ? Cause.foreign(status: refusal.status)
                : Cause.service(status: refusal.status, subStatus: refusal.subStatus)
            self.init(
                refusal.kind, cause, message: "\(product.productId): \(refusal.reason)", mediaProduct: product)
        case .cancelled, .changed, .tooLarge, .transfer:
            self.init(.source(failure.byteSourceError), product)
        }
    }

    /// A file that cannot be opened or read.
    public init(_ error: SystemError, _ product: MediaProduct) {
        let message = "\(product.productId): \(error.reason)"
        self.init(.unexpected, .system(error), message: message, mediaProduct: product)
    }

    /// A product whose format needs more memory than there is.
    init(_ error: OutOfMemory, _ product: MediaProduct) {
        self.init(.unexpected, .memory(error), message: "\(product.productId): \(error).", mediaProduct: product)
    }

    /// A resource of the system that the player itself needs.
    public init(_ error: SystemError) {
        self.init(.unexpected, .system(error), message: error.description)
    }

    /// The stored state cannot be read.
    package init(_ error: DatabaseError) {
        self.init(.unexpected, .database(error), message: error.description)
    }

    /// The device's key cannot be read or made.
    package init(_ error: DeviceKeyError) {
        switch error {
        case .system(let error): self.init(error)
        case .damaged: self.init(.unexpected, code: "k1", message: error.description)
        }
    }

    /// The stored state cannot be used by this program.
    package init(_ refusal: StorageThread.Refusal) {
        switch refusal {
        case .newerSchema(let error): self.init(error)
        case .system(let error): self.init(error)
        case .held: self.init(.unexpected, code: "b5", message: "another process uses the state folder")
        }
    }

    /// A device that cannot play the product.
    public init(_ error: DeviceError) {
        self.init(.unexpected, .device(error), message: error.description)
    }
}
