import Crypto
import Database
import Media
import Platform

/// Why a download or a re-validation has ended without a result.
enum OfflineFailure: Error, Equatable {
    /// It was told to stop. What is on the medium is recorded.
    case stopped
    /// There is no room for more.
    case noSpace
    /// It has more bytes than all that is kept may have together.
    case tooLarge(bytes: Int64, budget: Int64)
    /// A part of the content did not arrive.
    case resource(ResourceFailure)
    /// The content cannot be used.
    case media(MediaError)
    /// For a person, as it is.
    case refused(PlayerError)
    /// A file of the storage folder.
    case medium(SystemError)
    /// The rows, which may lie on another medium than the storage folder.
    case state(DatabaseError)

    /// A change of the rows has failed.
    init(_ error: DatabaseError) { self = .state(error) }

    /// Why the state cannot be written now, when that is not because of this download.
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

    /// Whether it may not use the link that its route leads over (docs/playback.md, 16.5).
    var isOfMeteredLink: Bool {
        switch self {
        case .resource(.transfer(.meteredLink)), .media(.source(.meteredLink)): true
        default: false
        }
    }

    /// Whether a part that has arrived cannot be continued, now or later.
    var endsPart: Bool {
        switch self {
        case .resource(.changed), .tooLarge: true
        default: false
        }
    }

    /// Whether what has arrived is of no use. For a license that does not come it is.
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

    /// The public error; nil when it is no failure of the product.
    func error(_ product: MediaProduct) -> PlayerError? {
        switch self {
        case .stopped, .noSpace, .resource(.cancelled), .media(.source(.cancelled)): return nil
        // It goes on when the mode ends.
        case .resource(.transfer(.offlineMode)), .media(.source(.offlineMode)): return nil
        case .tooLarge(let bytes, let budget):
            return PlayerError(
                .notAllowed, code: "a6",
                message: "\(product.productId): it has about \(Self.mebibytes(bytes, isRoundedUp: true)), and all kept "
                    + "products together may have \(Self.mebibytes(budget, isRoundedUp: false)). Allow more "
                    + "([offline] size), and resume it.", mediaProduct: product)
        case .resource(let failure): return PlayerError(failure, product)
        case .media(let error): return PlayerError(error, product)
        case .refused(let error): return error
        case .medium(let error): return PlayerError(error, product)
        case .state(let error): return PlayerError(error)
        }
    }

    /// `64.1 MiB`. A content that is too large by a byte must not look as large as the budget.
    private static func mebibytes(_ bytes: Int64, isRoundedUp: Bool) -> String {
        let (unit, tenth) = (Int64(1) << 20, Int64(1 << 20) / 10)
        let rest = bytes % unit
        let tenths = bytes / unit * 10 + (isRoundedUp ? (rest + tenth - 1) / tenth : rest / tenth)
        return "\(tenths / 10).\(tenths % 10) MiB"
    }
}
