import Fetching
import Platform
import Playback

/// The offline state of a product, for an app (docs/playback.md, 16.1).
public enum OfflineState: Equatable, Sendable {
    case notOfflined
    /// The offline copy plays without the network.
    case offlinedAndValid
    /// The offline copy does not play: it has expired, or a part of it is damaged. A re-validation or another download
    /// heals it.
    case offlinedButNotValid
}

/// All messages on the offline engine's bus, in order (docs/playback.md, 16.2). `referenceId` is that of the product in
/// the request.
public enum OfflineMessage: Equatable, Sendable {
    /// A download begins: on request, or because the service has other content now. Sent once for each download.
    case started(referenceId: String)
    /// The progress in percent, 0 to 100. It never falls, and each percentage is sent at most once.
    case progress(referenceId: String, percent: Int)
    /// The offline copy is complete and valid.
    case done(referenceId: String)
    /// The download has ended without a result. An earlier offline copy stays.
    case failed(referenceId: String, PlayerError)
    /// The offline copy and the download of the product were removed.
    case deleted(referenceId: String)
    case allDeleted
    /// The download was cancelled on request. An earlier offline copy stays.
    case cancelled(referenceId: String)
    case allCancelled
    /// The device's key has changed: `count` offline copies cannot be read, and are downloaded again.
    case keyLost(count: Int)
}

/// The result of a check of an offline copy.
public enum OfflineVerification: Equatable, Sendable {
    case noCopy
    case whole
    /// The content differs from the written one. It is downloaded again.
    case damaged
    /// The copy cannot be read now, which is no proof of damage: it stays. The reason is for the user.
    case unreadable(reason: String)
    /// The database of offline copies cannot be read.
    case unlisted
    /// The engine shuts down, or the check was cancelled.
    case stopped
}

/// The quality that is requested from the service for an offline copy. A re-validation requests the same.
struct OfflineRequest: Equatable, Sendable {
    var audioQuality: AudioQuality
    var videoQuality: VideoQuality

    /// The form in the database: "LOSSLESS HIGH".
    var text: String { "\(audioQuality.serviceName) \(videoQuality.serviceName)" }

    init(audioQuality: AudioQuality, videoQuality: VideoQuality) {
        self.audioQuality = audioQuality
        self.videoQuality = videoQuality
    }

    /// Returns nil for a text in another form.
    init?(_ text: String) {
        let words = text.utf8.split(separator: UInt8(ascii: " ")).map { String(decoding: $0, as: UTF8.self) }
        guard words.count == 2, let audio = AudioQuality(serviceName: words[0]),
            let video = VideoQuality(serviceName: words[1])
        else { return nil }
        self.init(audioQuality: audio, videoQuality: video)
    }
}

/// How long an offline copy is valid, in seconds since 1970.
struct OfflineValidity: Equatable, Sendable {
    /// The date by the service; nil when it gave none.
    var revalidateAt: Int64?
    /// The last valid second; nil for no limit.
    var validUntil: Int64?

    /// How long before its end a copy is re-validated when no earlier date is given, in seconds.
    static let notice: Int64 = 86_400

    /// The time of the next re-validation; nil for never. A date after the end counts as missing.
    var dueAt: Int64? {
        guard let validUntil else { return revalidateAt }
        if let revalidateAt, revalidateAt <= validUntil { return revalidateAt }
        let (time, isBeyond) = validUntil.subtractingReportingOverflow(Self.notice)
        return isBeyond ? .min : time
    }

    /// Returns whether the copy is valid. A clock that was never proved expires nothing.
    /// - Parameter time: the earliest possible present time, in seconds; nil when it was never proved.
    func holds(at time: Int64?) -> Bool {
        guard let validUntil, let time else { return true }
        return time <= validUntil
    }
}

/// One line of the list of offline copies and downloads.
public struct OfflineEntry: Equatable, Sendable {
    /// The status of the entry.
    public enum Status: Equatable, Sendable {
        /// The download will begin in its order.
        case queued
        /// The download runs.
        case running(percent: Int)
        case waiting(OfflineWait)
        case paused
        /// The reason is for the user.
        case failed(reason: String)
        /// The offline copy plays, until `validUntil`.
        case complete
        /// The offline copy has expired.
        case expired
        /// A part of the offline copy cannot be read. It is downloaded again.
        case damaged
    }

    /// `tonearm:track/ID`.
    public var product: String
    /// The number of a download, in the order of the requests.
    public var number: Int64?
    public var referenceId: String
    public var status: Status
    /// The size of the file, or of its part so far.
    public var bytes: Int64
    /// The quality that the service delivered; before that, the requested one.
    public var audioQuality: AudioQuality?
    /// The audio mode that the service delivered.
    public var audioMode: AudioMode?
    /// Whether the service delivered all of the product, or a preview.
    public var assetPresentation: AssetPresentation?
    /// The product that the service delivered instead of `product`; nil when it is `product` itself, or is not known
    /// yet.
    public var receivedProduct: String?
    /// The last valid second, since 1970; nil for no limit.
    public var validUntil: Int64?
    public var title: String?
    public var artist: String?
}

/// The reason why downloads wait.
public enum OfflineWait: Equatable, Sendable {
    /// There is no network.
    case network
    /// The route to the service leads over a metered link, and `offlineOverCellular` is off.
    case unmeteredNetwork
    /// The budget is used up, or the medium is full.
    case space
    /// The state cannot be written, so the progress of a download could not be recorded.
    case storage
    /// The medium of the storage folder is missing, or is another one.
    case medium
    /// The player is in offline mode.
    case onlineMode
    /// Playback needs the network first.
    case playback
    /// The network or the service has failed, or the service asked to wait.
    case retry(WaitReason)
}
