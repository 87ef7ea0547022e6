import Platform

/// Whether a product is kept, as an app sees it (docs/playback.md, 16.1).
public enum OfflineState: Equatable, Sendable {
    case notOfflined
    /// It plays without the network.
    case offlinedAndValid
    /// It is kept and does not play: its time has passed, or a part of it is damaged. A re-validation or another
    /// download heals it.
    case offlinedButNotValid
}

/// Everything on the offline engine's bus, in order (docs/playback.md, 16.2). `referenceId` is that of the product in
/// the request.
public enum OfflineMessage: Equatable, Sendable {
    /// A download begins: of a request, or because the service has other content now. Once for each job.
    case started(referenceId: String)
    /// In percent, 0 to 100. It never falls, and comes at most once a percent.
    case progress(referenceId: String, percent: Int)
    /// The product is kept, and valid.
    case done(referenceId: String)
    /// The download has ended without a result. What was kept before stays.
    case failed(referenceId: String, PlayerError)
    /// The product is not kept any more, or not going to be.
    case deleted(referenceId: String)
    case allDeleted
    /// The download was ended by request. A copy that was there before stays.
    case cancelled(referenceId: String)
    case allCancelled
    /// The device's key is another one than before: so many kept products cannot be read, and are downloaded again.
    case keyLost(count: Int)
}

/// What a check of all that is kept of a product has found.
public enum OfflineVerification: Equatable, Sendable {
    case notKept
    case whole
    /// It is not what was written. It is downloaded again.
    case damaged
    /// It cannot be read now, which says nothing about what is in it: it stays. The reason is for a person.
    case unreadable(reason: String)
    /// The list of what is kept cannot be read.
    case unlisted
    /// The engine ends, or the check was cancelled.
    case stopped
}

/// What is asked of the service for a product that is kept. A re-validation asks for the same.
struct OfflineRequest: Equatable, Sendable {
    var audioQuality: AudioQuality
    var videoQuality: VideoQuality

    /// As the database has it: "LOSSLESS HIGH".
    var text: String { "\(audioQuality.serviceName) \(videoQuality.serviceName)" }

    init(audioQuality: AudioQuality, videoQuality: VideoQuality) {
        self.audioQuality = audioQuality
        self.videoQuality = videoQuality
    }

    /// nil for a text that is none.
    init?(_ text: String) {
        let words = text.utf8.split(separator: UInt8(ascii: " ")).map { String(decoding: $0, as: UTF8.self) }
        guard words.count == 2, let audio = AudioQuality(serviceName: words[0]),
            let video = VideoQuality(serviceName: words[1])
        else { return nil }
        self.init(audioQuality: audio, videoQuality: video)
    }
}

/// Until when a kept product is valid, in seconds since 1970.
struct OfflineValidity: Equatable, Sendable {
    /// As the service said it; nil when it did not.
    var revalidateAt: Int64?
    /// nil: without limit.
    var validUntil: Int64?

    /// How long before its end a copy is asked for when no earlier date says so, in seconds.
    static let notice: Int64 = 86_400

    /// From when on the service is asked again; nil: never. A date behind the end counts as none.
    var dueAt: Int64? {
        guard let validUntil else { return revalidateAt }
        if let revalidateAt, revalidateAt <= validUntil { return revalidateAt }
        let (time, isBeyond) = validUntil.subtractingReportingOverflow(Self.notice)
        return isBeyond ? .min : time
    }

    /// - Parameter time: the earliest possible present time, in seconds; nil when it was never proved. A clock that is
    ///   wrong decides nothing.
    func holds(at time: Int64?) -> Bool {
        guard let validUntil, let time else { return true }
        return time <= validUntil
    }
}

/// One line of the list of what is kept and what is on its way.
public struct OfflineEntry: Equatable, Sendable {
    /// Where it stands.
    public enum Status: Equatable, Sendable {
        /// Its turn comes.
        case queued
        /// A download runs, and has so many percent.
        case running(percent: Int)
        case waiting(OfflineWait)
        case paused
        /// For a person.
        case failed(reason: String)
        /// Plays, until `validUntil`.
        case kept
        /// Its time has passed.
        case expired
        /// A part of it cannot be read. It is fetched again.
        case damaged
    }

    /// `tonearm:track/ID`.
    public var product: String
    /// Of a download: its place in the order of the requests.
    public var number: Int64?
    public var referenceId: String
    public var status: Status
    /// Of the file, or of what there is of it.
    public var bytes: Int64
    /// What has come; before that, what was asked for.
    public var audioQuality: AudioQuality?
    /// Of what has come.
    public var audioMode: AudioMode?
    /// Of what has come: all of the product, or a preview.
    public var assetPresentation: AssetPresentation?
    /// What has come instead of `product`, and plays; nil when it is `product` itself, or has not come yet.
    public var receivedProduct: String?
    /// In seconds since 1970; nil: without limit.
    public var validUntil: Int64?
    public var title: String?
    public var artist: String?
}

/// What downloads wait for.
public enum OfflineWait: Equatable, Sendable {
    /// There is no network.
    case network
    /// The way to the service is a metered link, and `offlineOverCellular` is off.
    case unmeteredNetwork
    /// The budget is used up, or the medium is full.
    case space
    /// The state cannot be written, so nothing of a download could be recorded.
    case storage
    /// The medium of what is kept is missing, or is another one.
    case medium
    /// The player is in offline mode.
    case onlineMode
    /// Playback needs the network first.
    case playback
    /// The network or the service has failed, or the service asked to wait.
    /// - Parameter seconds: until the next attempt; 0 while one goes on.
    case retry(seconds: Double)
}
