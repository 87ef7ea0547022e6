import Fetching
import Platform
import Synchronization

/// Whether a decoder thread waits for its medium now: inside the calls that open and read it, and until missing bytes
/// have arrived. Decoding does not count, so a decoder that never ends does not look like a slow medium.
///
/// Thread: the decoder thread, except where a declaration says otherwise.
public final class MediumAccess: Sendable {
    /// The number of the current access; 0 between two accesses.
    private let current = Atomic<UInt32>(0)
    private let last = Atomic<UInt32>(0)
    /// The progress of a product that is streamed.
    package let stream: StreamProgress
    /// The device that plays the product.
    package let device = PlayingDevice()

    public init() { stream = StreamProgress() }

    /// - Parameters:
    ///   - clock: the clock of the waits in `stream`.
    ///   - waitChanged: called when a wait begins and when it ends. Any thread.
    package init(clock: any MonotonicClock, waitChanged: (@Sendable () -> Void)? = nil) {
        stream = StreamProgress(clock: clock, waitChanged: waitChanged)
    }

    /// Any thread.
    public var isWaiting: Bool { current.load(ordering: .relaxed) != 0 }

    /// A number that changes with each use of the medium. Any thread.
    var count: UInt32 { last.load(ordering: .relaxed) }

    /// Counts as waiting while `call` runs. `call` opens or reads the medium, and does no other long work.
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

    /// The current access; nil between two accesses.
    var access: UInt32? {
        let number = current.load(ordering: .relaxed)
        return number == 0 ? nil : number
    }

    /// Ends `access`, unless another one has begun since. Any thread.
    func end(_ access: UInt32) {
        _ = current.compareExchange(expected: access, desired: 0, ordering: .relaxed)
    }
}
