import Network
import Platform

/// Collects a whole answer in memory: a playbackinfo, a manifest, a playlist, a key.
///
/// Thread: any. `@unchecked Sendable` is safe because `lock` guards the mutable state.
package final class WholeAnswer: ResourceReceiver, @unchecked Sendable {
    package struct Content: Sendable {
        package var body: [UInt8]
        /// The address of the answer after redirects; relative addresses in the body refer to it.
        package var url: String
    }

    private let lock = Lock()
    private var content = Content(body: [], url: "")
    private var outcome: Result<Content, ResourceFailure>?
    private var wake: (@Sendable () -> Void)?

    package init() {}

    /// The answer, or why there is none; nil until the transfer has ended.
    package var result: Result<Content, ResourceFailure>? { lock.withLock { outcome } }

    /// Calls `wake` once when the transfer has ended, as `ByteSource.whenReadable` does.
    package func whenOver(_ wake: @escaping @Sendable () -> Void) {
        let isOver = lock.withLock {
            if outcome == nil { self.wake = wake }
            return outcome != nil
        }
        if isOver { wake() }
    }

    // MARK: From the network

    package func began(_ head: ResponseHead, length: Int64?) {
        lock.withLock { content = Content(body: [], url: head.effectiveURL) }
    }

    package func received(_ bytes: UnsafeRawBufferPointer) -> SinkAnswer {
        lock.withLock { content.body.append(contentsOf: bytes) }
        return .more
    }

    package func ended(_ failure: ResourceFailure?) {
        let wake = lock.withLock {
            outcome = failure.map { .failure($0) } ?? .success(content)
            defer { self.wake = nil }
            return self.wake
        }
        wake?()
    }
}
