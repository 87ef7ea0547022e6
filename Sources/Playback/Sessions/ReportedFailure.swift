import Events
import Media

/// An error that can be the end of a fetch in events.
package protocol ReportedFailure: Error {
    /// A fetch that was cancelled has not failed.
    var sessionEnd: SessionEnd { get }
}

extension PlayerError: ReportedFailure {
    package var sessionEnd: SessionEnd {
        if case .media(.source(.cancelled)) = cause { return .other }
        return SessionEnd(self)
    }
}

extension PlayerError {
    /// The message for events. Messages about files, devices and the database are left out: they name paths.
    var reportedMessage: String {
        switch cause {
        case .service, .foreign, .answer, .source: message
        case .media(.source(.medium)), .system, .memory, .device, .database: ""
        case .media: message
        }
    }
}

extension MediaError: ReportedFailure {
    package var sessionEnd: SessionEnd {
        if case .source(.cancelled) = self { return .other }
        return .failed(code: PlayerError.Cause.media(self).code, message: "the license could not be fetched")
    }
}
