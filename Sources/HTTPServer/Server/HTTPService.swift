/// The answers of a server to its clients. A server knows nothing else of the service that it serves.
///
///     var service = HTTPService { request in HTTPAnswer.json(["path": .string(request.path)]) }
///     service.bodyLimit = { path in path == "/upload" ? 1 << 20 : 0 }
///
/// Thread: the closures are called on the connections' threads, several at the same time, and may block.
package struct HTTPService: Sendable {
    package var answer: @Sendable (HTTPRequest) -> HTTPAnswer
    /// Returns the limit of a request's body in bytes, by the path of the request.
    package var bodyLimit: @Sendable (_ path: String) -> Int = { _ in 16_384 }
    /// Returns the answer to a request that the server itself refuses.
    package var refuse: @Sendable (_ refusal: HTTPRefusal, _ path: String) -> HTTPAnswer = { refusal, _ in
        refusal.answer
    }

    package init(answer: @escaping @Sendable (HTTPRequest) -> HTTPAnswer) { self.answer = answer }
}

/// The reason why the server itself refuses a request.
package enum HTTPRefusal: Equatable, Sendable {
    /// The method is not GET, HEAD or POST.
    case method
    /// The body is larger than its limit.
    case tooLarge
    /// The head can be understood in two ways. The value describes the part, for the user.
    case malformed(String)

    /// The answer without a text.
    package var answer: HTTPAnswer {
        switch self {
        case .method: HTTPAnswer(status: 405, headers: [HTTPField("Allow", "GET, HEAD, POST")])
        case .tooLarge: HTTPAnswer(status: 413)
        case .malformed: HTTPAnswer(status: 400)
        }
    }
}
