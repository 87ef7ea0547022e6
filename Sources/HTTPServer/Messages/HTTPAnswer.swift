import Platform

/// An answer of the server.
package struct HTTPAnswer: Sendable {
    /// Called before each part of the body with its offset, on the connection's thread, which it may block.
    package typealias Pace = @Sendable (_ offset: Int64, _ connection: HTTPConnection) -> BodyStep

    package var status: Int
    package var headers: [HTTPField]
    package var body: ContentBody
    /// Decides how the body is sent; nil to send it as fast as the client takes it.
    package var pace: Pace?
    /// The length that the head announces, if it differs from that of the body. The connection closes after a shorter
    /// body, but not with the status 304, which has none.
    package var announcedLength: Int64?
    /// The body, if its end is not known; it is sent instead of `body`.
    package var stream: HTTPStream?
    /// Takes the connection over after the answer, which has the status 101.
    package var upgrade: (@Sendable (UpgradedSocket) -> Void)?

    package init(status: Int = 200, headers: [HTTPField] = [], body: ContentBody = ContentBody()) {
        self.status = status
        self.headers = headers
        self.body = body
    }

    /// The value of the first header of this name.
    package subscript(_ name: String) -> String? {
        headers.first { $0.name.utf8.elementsEqual(name.utf8) }?.value
    }

    /// Returns an answer with JSON that clients must not store.
    package static func json(_ value: JSONValue, status: Int = 200) -> HTTPAnswer {
        json(Array(value.serialized().utf8), status: status)
    }

    /// - Parameter text: a value of JSON.
    package static func json(_ text: [UInt8], status: Int = 200) -> HTTPAnswer {
        HTTPAnswer(
            status: status,
            headers: [HTTPField("Content-Type", "application/json"), HTTPField("Cache-Control", "no-store")],
            body: ContentBody(text))
    }
}

/// A body whose end is not known: its parts are sent as they come.
package struct HTTPStream: Sendable {
    /// Fills the buffer with the next bytes. Called on the connection's thread, which it blocks until there are some.
    /// - Returns: the number of bytes; 0 at the end.
    package var read: @Sendable (UnsafeMutableRawBufferPointer) -> Int

    package init(read: @escaping @Sendable (UnsafeMutableRawBufferPointer) -> Int) { self.read = read }
}

/// A header.
package struct HTTPField: Equatable, Sendable {
    package var name: String
    package var value: String

    package init(_ name: String, _ value: String) {
        self.name = name
        self.value = value
    }
}
