import Platform

/// The progress of a scan, in files since its start.
package struct ScanProgress: Equatable, Sendable {
    /// The number of files in the folders that were read.
    package var found = 0
    /// The number of found files that were compared with the index.
    package var done = 0
    package var isRunning = false
    /// The number of scans that have ended.
    package var finished = 0
    /// Whether the scan waits because the machine runs on battery.
    package var waitsForPower = false

    package init() {}
}

/// Pauses and stops a scan between two files, and shows its progress. A scan waits while the machine runs on battery:
/// it checks when it begins, and then every 30 s. Nothing is checked without a scan.
///
/// Thread: any, but one thread at a time for the calls of a scan. `@unchecked Sendable` is safe because `condition`
/// guards the state, and one scan at a time uses `nextLook`.
package final class ScanControl: @unchecked Sendable {
    private let condition = Condition()
    private var isPaused = false
    private var isStopped = false
    private var current = ScanProgress()
    private let isOnBattery: @Sendable () -> Bool
    private let clock: any MonotonicClock = SystemMonotonicClock()
    /// The time between two checks of the power supply, in nanoseconds.
    private let lookInterval: Int64
    /// The time of the next check, by `clock`.
    private var nextLook: Int64 = 0

    /// - Parameters:
    ///   - lookInterval: the time between two checks of the power supply, in nanoseconds.
    ///   - isOnBattery: returns whether the machine runs on battery.
    package init(lookInterval: Int64 = 30_000_000_000, isOnBattery: @escaping @Sendable () -> Bool = { false }) {
        self.lookInterval = lookInterval
        self.isOnBattery = isOnBattery
    }

    package var progress: ScanProgress { condition.update { current } }

    /// Makes the scan wait before its next file.
    package func pause() { condition.update { isPaused = true } }

    package func resume() { condition.update { isPaused = false } }

    /// Ends the scan before its next file, and each later scan too.
    package func stop() { condition.update { isStopped = true } }

    func begin() {
        nextLook = 0
        condition.update {
            (current.found, current.done, current.isRunning) = (0, 0, true)
        }
    }

    func end() {
        condition.update {
            (current.isRunning, current.waitsForPower) = (false, false)
            current.finished += 1
        }
    }

    func found(_ count: Int) { condition.update { current.found += count } }

    /// Blocks while the scan is paused or the machine runs on battery, and counts a file.
    /// - Returns: false when the scan has to end.
    func mayReadNext() -> Bool {
        waitForPower()
        condition.wait { !isPaused || isStopped }
        return condition.update {
            if !isStopped { current.done += 1 }
            return !isStopped
        }
    }

    private func waitForPower() {
        while clock.now() >= nextLook {
            let waits = isOnBattery()
            nextLook = clock.now() + lookInterval
            let isEnding = condition.update {
                current.waitsForPower = waits && !isStopped
                return isStopped
            }
            if !waits || isEnding { return }
            condition.wait(atMost: lookInterval) { isStopped }
        }
    }
}
