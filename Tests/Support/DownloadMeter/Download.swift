import Network
import Platform
import Synchronization

/// The destination of a download. Thread: network.
protocol Destination: AnyObject, Sendable {
    /// - Parameter resume: called when `append` may be repeated after it has refused bytes.
    func begin(_ head: ResponseHead, resume: @escaping @Sendable () -> Void)
    /// - Returns: whether the bytes are taken. Otherwise `resume` is called.
    func append(_ bytes: UnsafeRawBufferPointer) -> Bool
    /// - Parameter done: called when everything is on the medium, with the error if there was one.
    func end(_ done: @escaping @Sendable (String?) -> Void)
}

/// `@unchecked Sendable` is safe because the network thread writes before `condition` is updated, and the other thread
/// reads afterwards.
final class Download: TransferSink, @unchecked Sendable {
    private let destination: any Destination
    private let condition = Condition()
    /// Guarded by `condition`: the transfer, the end, and the error.
    private var transfer: Transfer?
    private var isOver = false
    private var failure: String?
    private var memory: Int64 = 0
    private(set) var count: Int64 = 0

    init(into destination: any Destination) { self.destination = destination }

    func begin(_ request: TransferRequest, over network: Network) {
        let started = network.start(request, into: self)
        condition.update { transfer = started }
    }

    /// - Returns: the error; nil without one.
    func wait() -> String? {
        condition.wait { isOver }
        return failure
    }

    /// The growth in bytes, from the head of the answer to the highest mark.
    var growth: Int64 { max(0, ResidentMemory.highest - memory) }

    func began(_ head: ResponseHead) {
        memory = ResidentMemory.highest
        guard head.status == 200 else { return finish("status \(head.status)") }
        destination.begin(head) { [self] in
            condition.wait { transfer != nil }
            transfer?.resume()
        }
    }

    func received(_ bytes: UnsafeRawBufferPointer) -> SinkAnswer {
        guard destination.append(bytes) else { return .enough }
        count += Int64(bytes.count)
        return .more
    }

    func ended(_ error: TransferError?) {
        if let error { return finish(error.description) }
        destination.end { [self] in finish($0) }
    }

    private func finish(_ failure: String?) {
        condition.update {
            if !isOver { self.failure = failure }
            isOver = true
        }
    }
}
