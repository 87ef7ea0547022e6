import Platform
import Synchronization

/// Whether a decoder thread waits for its medium now: inside the calls that open and read it, and while bytes are on
/// their way. Decoding is no wait, so a decoder that does not end is not taken for a slow medium.
///
/// Thread: the decoder thread, except where a declaration says otherwise.
public final class MediumAccess: Sendable {
    /// Number of the access that goes on; 0 between two accesses.
    private let current = Atomic<UInt32>(0)
    private let last = Atomic<UInt32>(0)
    /// Of a product that comes over the network.
    let stream: StreamProgress

    public init() { stream = StreamProgress() }

    /// - Parameters:
    ///   - clock: of the waits in `stream`.
    ///   - waitChanged: called when they begin and when they are over. Any thread.
    init(clock: any MonotonicClock, waitChanged: (@Sendable () -> Void)? = nil) {
        stream = StreamProgress(clock: clock, waitChanged: waitChanged)
    }

    /// Any thread.
    public var isWaiting: Bool { current.load(ordering: .relaxed) != 0 }

    /// Another number after each use of the medium. Any thread.
    var count: UInt32 { last.load(ordering: .relaxed) }

    /// Counts as waiting while `call` runs. It opens or reads the medium, and does nothing that takes time beside that.
    public func waiting<Result, Failure: Error>(_ call: () throws(Failure) -> Result) throws(Failure) -> Result {
        begin()
        defer { end() }
        return try call()
    }

    func begin() {
        let number = last.wrappingAdd(1, ordering: .relaxed).newValue
        current.store(number == 0 ? 1 : number, ordering: .relaxed)
    }

    func end() { current.store(0, ordering: .relaxed) }

    /// The access that goes on now; nil between two accesses.
    var access: UInt32? {
        let number = current.load(ordering: .relaxed)
        return number == 0 ? nil : number
    }

    /// Ends `access`, unless another one has begun since. Any thread.
    func end(_ access: UInt32) {
        _ = current.compareExchange(expected: access, desired: 0, ordering: .relaxed)
    }
}
