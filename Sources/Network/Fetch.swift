import Platform
import Synchronization

/// A response with its whole body.
public struct Response: Equatable, Sendable {
    public let head: ResponseHead
    public let body: [UInt8]

    public init(head: ResponseHead, body: [UInt8]) {
        self.head = head
        self.body = body
    }
}

extension Network {
    /// Blocks until the whole response has arrived; for threads that may wait, and small bodies.
    /// - Parameters:
    ///   - maximumBody: the largest body in bytes; it is held in memory.
    ///   - cancellation: ends the wait at once.
    /// - Throws: `.cancelled`, and any error that ends a transfer. A status such as 404 is not an error.
    public func fetch(
        _ request: TransferRequest, maximumBody: Int, cancellation: Cancellation
    ) throws(TransferError) -> Response {
        var request = request
        request.maximumBody = min(Int64(maximumBody), request.maximumBody ?? .max)
        let sink: CollectingSink
        do throws(SystemError) { sink = try CollectingSink() } catch {
            throw .library(code: Int(error.code), reason: error.description)
        }
        let transfer = start(request, into: sink)
        let waited: Cancellation.Outcome
        do throws(SystemError) {
            waited = try cancellation.wait(for: sink.wakeUp.descriptor, .readable, milliseconds: -1)
        } catch {
            transfer.cancel()
            throw .library(code: Int(error.code), reason: error.description)
        }
        guard waited != .cancelled else {
            transfer.cancel()
            throw .cancelled
        }
        return try sink.response()
    }
}

/// Collects a response for a thread that waits for it.
/// `@unchecked Sendable` is safe because the network thread sets `isOver` last, and the waiting thread reads after
/// that.
private final class CollectingSink: TransferSink, @unchecked Sendable {
    let wakeUp: WakeUp
    private var head: ResponseHead?
    private var body: [UInt8] = []
    private var error: TransferError?
    private let isOver = Atomic(false)

    init() throws(SystemError) { wakeUp = try WakeUp() }

    func began(_ head: ResponseHead) { self.head = head }

    func received(_ bytes: UnsafeRawBufferPointer) -> SinkAnswer {
        body.append(contentsOf: bytes)
        return .more
    }

    func ended(_ error: TransferError?) {
        self.error = error
        isOver.store(true, ordering: .releasing)
        wakeUp.signal()
    }

    func response() throws(TransferError) -> Response {
        let isOver = isOver.load(ordering: .acquiring)
        if let error { throw error }
        guard isOver, let head else { throw .malformedAnswer }
        return Response(head: head, body: body)
    }
}
