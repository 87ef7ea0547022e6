import Database
import Platform

/// The means that the parts of the daemon share.
struct DaemonEnvironment {
    let loop: EventLoop
    let storage: StorageThread
    /// The clock of `loop`.
    let clock: any MonotonicClock
    let random: any RandomSource
    let spareMemory: SpareMemory
}
