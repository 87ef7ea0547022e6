/// One fact of a session, at the moment when it happened. A session is its beginning and a list of facts, to which
/// facts are only appended. All events about the session follow from them (`SessionEvents`).
package struct SessionFact: Equatable, Sendable {
    package enum Kind: Equatable, Sendable {
        /// The playbackinfo or a license was fetched, with all retries.
        case fetched(SessionFetch)
        /// The actual content is known.
        case opened(SessionContent)
        /// Sound was asked for: by `play`, or by the transition from the product before.
        case requested
        /// Frames are heard from this position on, in seconds.
        case started(position: Double)
        /// The last frame before this position, in seconds, was heard.
        case stopped(position: Double, StopReason)
        /// Another representation is heard from this position on, in seconds.
        case changed(position: Double, SessionRepresentation)
        /// The position that was heard last, in seconds. It replaces an earlier fact of this kind.
        case reached(position: Double)
        /// The session ended.
        /// - position: the position after the last frame that was heard, in seconds; nil when it is not known.
        case ended(position: Double?, SessionEnd)
    }

    package var time: EventTime
    package var kind: Kind

    package init(_ time: EventTime, _ kind: Kind) {
        self.time = time
        self.kind = kind
    }
}

/// The reason why sound stopped inside a session.
package enum StopReason: Int, Equatable, Sendable {
    case pause = 0
    case seek = 1
    /// Data or the device was missing.
    case stall = 2
}

/// The end of a session or of a fetch.
package enum SessionEnd: Equatable, Sendable {
    /// The session came to its natural end.
    case complete
    case failed(code: String, message: String)
    /// A user, the next product or the end of the program ended it.
    case other
}

/// The fetch of the playbackinfo or of a license, with all its retries.
package struct SessionFetch: Equatable, Sendable {
    package enum Resource: Int, Equatable, Sendable {
        case playbackInfo = 0
        case license = 1
    }

    package var resource: Resource
    /// The time from the first request to the end of the last one, in milliseconds. The end is the time of the fact.
    package var milliseconds: Int64
    package var end: SessionEnd

    package init(_ resource: Resource, milliseconds: Int64, _ end: SessionEnd) {
        self.resource = resource
        self.milliseconds = milliseconds
        self.end = end
    }
}

/// The content that the service gave for the product, in the words of its interface.
package struct SessionContent: Equatable, Sendable {
    /// The actual product, which differs from the requested one after a replacement.
    package var productId: String
    /// `ON_DEMAND` or `LIVE`.
    package var streamType: String
    /// `FULL` or `PREVIEW`.
    package var assetPresentation: String
    package var audioMode: String?
    package var quality: String?
    /// Whether the content lies in the storage folder; otherwise it is streamed.
    package var isOfflineCopy: Bool
    /// The duration in seconds, if it is known.
    package var duration: Double?

    package init(
        productId: String, streamType: String = "ON_DEMAND", assetPresentation: String = "FULL",
        audioMode: String? = nil, quality: String? = nil, isOfflineCopy: Bool = false, duration: Double? = nil
    ) {
        self.productId = productId
        self.streamType = streamType
        self.assetPresentation = assetPresentation
        self.audioMode = audioMode
        self.quality = quality
        self.isOfflineCopy = isOfflineCopy
        self.duration = duration
    }
}

/// A representation that became audible.
package struct SessionRepresentation: Equatable, Sendable {
    package var quality: String?
    /// The codec's name in lower case: "flac".
    package var codec: String
    /// Bits per second, if known.
    package var bandwidth: Int?

    package init(quality: String? = nil, codec: String, bandwidth: Int? = nil) {
        self.quality = quality
        self.codec = codec
        self.bandwidth = bandwidth
    }
}
