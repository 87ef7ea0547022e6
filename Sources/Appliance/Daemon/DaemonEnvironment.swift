import Database
import Platform

/// The means that the parts of the daemon share.
package struct DaemonEnvironment {
    let loop: EventLoop
    package let storage: StorageThread
    /// The clock of `loop`.
    package let clock: any MonotonicClock
    package let random: any RandomSource
    let spareMemory: SpareMemory
}
