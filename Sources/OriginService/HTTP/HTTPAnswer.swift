import Platform

/// An answer of the server.
struct HTTPAnswer: Sendable {
    var status = 200
    var headers: [HTTPField] = []
    var body = ContentBody()
    var delivery = HTTPDelivery()

    /// The value of the first header of this name.
    subscript(_ name: String) -> String? { headers.first { $0.name == name }?.value }
}

struct HTTPField: Equatable, Sendable {
    var name: String
    var value: String

    init(_ name: String, _ value: String) {
        self.name = name
        self.value = value
    }
}

extension HTTPAnswer {
    /// Returns an answer with JSON that clients must not store.
    static func json(_ value: JSONValue, status: Int = 200) -> HTTPAnswer {
        HTTPAnswer(
            status: status,
            headers: [HTTPField("Content-Type", "application/json"), HTTPField("Cache-Control", "no-store")],
            body: ContentBody(Array(value.serialized().utf8)))
    }

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
}

extension HTTPAnswer {
    /// - Parameter methods: the allowed methods.
    static func wrongMethod(_ methods: String) -> HTTPAnswer {
        var refusal = HTTPAnswer.refusal(405, SubStatus.wrongMethod, "Only \(methods) are served here.")
        refusal.headers.append(HTTPField("Allow", methods))
        return refusal
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
