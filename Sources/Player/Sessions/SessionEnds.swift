import Events
import Media
import Playback

extension SessionEnd {
    init(_ error: PlayerError) { self = .failed(code: error.code, message: error.reportedMessage) }

    init(_ end: ServiceFetch.End) {
        switch end {
        case .complete: self = .complete
        case .cancelled: self = .other
        case .failed(let cause, let message):
            self = .failed(code: cause.code, message: cause.isReportedWithMessage ? message : "")
        }
    }
}

extension SessionFetch {
    init(_ fetch: ServiceFetch) {
        self.init(Resource(fetch.resource), milliseconds: fetch.milliseconds, SessionEnd(fetch.end))
    }
}

extension SessionFetch.Resource {
    init(_ resource: ServiceFetch.Resource) {
        switch resource {
        case .playbackInfo: self = .playbackInfo
        case .license: self = .license
        }
    }
}

extension PlayerError {
    /// The message that events contain.
    var reportedMessage: String { cause.isReportedWithMessage ? message : "" }
}

extension PlayerError.Cause {
    /// Whether events contain the message. Messages about files, devices and the database are left out: they name
    /// paths.
    var isReportedWithMessage: Bool {
        switch self {
        case .media(.source(.medium)), .system, .memory, .device, .database: false
        case .service, .foreign, .answer, .source, .media: true
        }
    }
}
