import Crypto
import Database
import Fetching
import Media
import Platform
import Playback

/// Why a download or a re-validation has ended without a result.
enum OfflineFailure: Error, Equatable {
    /// The run was stopped. Its bytes on the medium are recorded.
    case stopped
    /// The medium or the budget has no room for more.
    case noSpace
    /// The content is larger than the budget of all offline copies together.
    case tooLarge(bytes: Int64, budget: Int64)
    /// A part of the content did not arrive.
    case resource(ResourceFailure)
    /// The content cannot be used.
    case media(MediaError)
    /// The service refused; the error is shown unchanged.
    case refused(PlayerError)
    /// A file of the storage folder failed.
    case medium(SystemError)
    /// The database failed, which may lie on another medium than the storage folder.
    case state(DatabaseError)

    /// Makes the failure for a failed change of rows.
    init(_ error: DatabaseError) { self = .state(error) }

    /// The reason why the state cannot be written, when this download is not its cause.
    var problemOfState: String? {
        guard case .state(let error) = self else { return nil }
        return switch error.kind {
        case .busy, .full, .corrupt, .notAccessible, .inputOutput, .interrupted: error.description
        case .newerSchema, .constraint, .misuse: nil
        }
    }

    /// Whether new addresses may help (docs/playback.md, 15.5).
    var isWorthRestarting: Bool {
        switch self {
        case .resource(let failure): failure == .changed || MediaError.source(failure.byteSourceError).isWorthRestarting
        case .media(let error): error.isWorthRestarting
        default: false
        }
    }

    /// Whether the route of the download leads over a link that it may not use (docs/playback.md, 16.5).
    var isOfMeteredLink: Bool {
        switch self {
        case .resource(.transfer(.meteredLink)), .media(.source(.meteredLink)): true
        default: false
        }
    }

    /// Whether the bytes that have arrived can never be continued.
    var endsPart: Bool {
        switch self {
        case .resource(.changed), .tooLarge: true
        default: false
        }
    }

    /// Whether the bytes that have arrived are useless. They are still useful when only a license is missing.
    var isOfContent: Bool {
        switch self {
        case .media(.source(.medium(let error))): !error.isOfResources
        case .media(.source(.integrity)): true
        case .media(.notAudio), .media(.unsupported), .media(.damaged), .media(.empty): true
        default: false
        }
    }

    init(_ error: SealedFileError) {
        switch error {
        case .system(let error): self = error.isOutOfSpace ? .noSpace : .medium(error)
        case .damaged: self = .media(.source(.integrity(reason: "what is on the medium is damaged")))
        }
    }

    /// Returns the public error; nil when the failure is not one of the product.
    func error(_ product: MediaProduct) -> PlayerError? {
        switch self {
        case .stopped, .noSpace, .resource(.cancelled), .media(.source(.cancelled)): return nil
        // The download continues when offline mode ends.
        case .resource(.transfer(.offlineMode)), .media(.source(.offlineMode)): return nil
        case .tooLarge(let bytes, let budget):
            return PlayerError(
                .notAllowed, code: "a6",
                message:
                    "\(product.productId): it has about \(Self.mebibytes(bytes, isRoundedUp: true)), and all offline "
                    + "copies together may have \(Self.mebibytes(budget, isRoundedUp: false)). Allow more "
                    + "([offline] size), and resume it.", mediaProduct: product)
        case .resource(let failure): return PlayerError(failure, product)
        case .media(let error): return PlayerError(error, product)
        case .refused(let error): return error
        case .medium(let error): return PlayerError(error, product)
        case .state(let error): return PlayerError(error)
        }
    }

    /// The end of an attempt to download. A download that was stopped has not failed.
    func fetchEnd(_ product: MediaProduct) -> ServiceFetch.End {
        error(product).map { .failed($0.cause, message: $0.message) } ?? .cancelled
    }

    /// Formats bytes as `64.1 MiB`. A content that exceeds the budget by a byte must not look as large as the budget.
    private static func mebibytes(_ bytes: Int64, isRoundedUp: Bool) -> String {
        let (unit, tenth) = (Int64(1) << 20, Int64(1 << 20) / 10)
        let rest = bytes % unit
        let tenths = bytes / unit * 10 + (isRoundedUp ? (rest + tenth - 1) / tenth : rest / tenth)
        return "\(tenths / 10).\(tenths % 10) MiB"
    }
}
