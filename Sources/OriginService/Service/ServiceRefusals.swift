import HTTPServer
import Platform

extension HTTPAnswer {
    /// Returns an error in the form for the player (docs/service.md).
    static func refusal(_ status: Int, _ subStatus: Int, _ message: String) -> HTTPAnswer {
        json(
            [
                "status": .integer(Int64(status)), "subStatus": .integer(Int64(subStatus)),
                "userMessage": .string(message),
            ],
            status: status)
    }

    static func wrongParameter(_ name: String) -> HTTPAnswer {
        refusal(400, SubStatus.wrongParameter, "The value of \(name) is missing or not known.")
    }

    /// - Parameter methods: the allowed methods.
    static func wrongMethod(_ methods: String) -> HTTPAnswer {
        var refusal = HTTPAnswer.refusal(405, SubStatus.wrongMethod, "Only \(methods) are served here.")
        refusal.headers.append(HTTPField("Allow", methods))
        return refusal
    }

    /// Returns the answer to a request that the server itself refuses.
    static func refusal(_ refusal: HTTPRefusal) -> HTTPAnswer {
        switch refusal {
        case .method: .wrongMethod("GET, HEAD and POST")
        case .tooLarge: .refusal(413, SubStatus.tooLarge, "The request is too large.")
        case .malformed(let mistake): .refusal(400, SubStatus.wrongParameter, "Malformed request: \(mistake).")
        }
    }
}

/// The reasons that the service returns beside a status.
enum SubStatus {
    static let wrongMethod = 1000
    static let tooLarge = 1001
    static let wrongParameter = 1002
    static let wrongSignature = 1003
    static let notFound = 2001
    static let notReady = 4005
    static let tooManyLogins = 4029
    static let wrongToken = 11003
}
