import Fetching
import Media

/// The fetch of a playbackinfo or of a license, with all its retries.
package struct ServiceFetch {
    package enum Resource {
        case playbackInfo
        case license
    }

    package enum End {
        case complete
        /// The item was closed, or the download stopped.
        case cancelled
        case failed(PlayerError.Cause, message: String)
    }

    package var resource: Resource
    /// The time from the first request to the end of the last one, in milliseconds.
    package var milliseconds: Int64
    package var end: End

    package init(_ resource: Resource, milliseconds: Int64, _ end: End) {
        self.resource = resource
        self.milliseconds = milliseconds
        self.end = end
    }
}

/// The beginning or the end of a fetch.
package enum FetchReport {
    case began(ServiceFetch.Resource)
    case ended(ServiceFetch)
}

/// An error that can end a fetch from a content service.
package protocol FetchFailure: Error {
    var fetchEnd: ServiceFetch.End { get }
}

extension PlayerError: FetchFailure {
    package var fetchEnd: ServiceFetch.End {
        if case .media(.source(.cancelled)) = cause { .cancelled } else { .failed(cause, message: message) }
    }
}

extension MediaError: FetchFailure {
    package var fetchEnd: ServiceFetch.End {
        if case .source(.cancelled) = self { return .cancelled }
        return .failed(.media(self), message: "the license could not be fetched")
    }
}
