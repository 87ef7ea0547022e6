import CLinux
import Foundation
import Output
import PCM

/// The device of a `PacedCard`.
final class PacedDevice: PlaybackDevice {
    let configuration: DeviceConfiguration
    private let card: PacedCard
    // Guarded by the card's condition.
    private var pending: [UInt8] = []
    var isStarted = false
    /// Faults to report, one after the other, each until it was recovered from.
    var faults: [DeviceFault] = []
    private let frameBytes: Int
    let isAudible: Bool

    init(card: PacedCard, configuration: DeviceConfiguration) {
        self.card = card
        self.configuration = configuration
        isAudible = card.isAudible
        frameBytes = configuration.sampleFormat.byteCount * configuration.channelCount
    }

    var pendingFrames: Int { pending.count / frameBytes }

    func consume(_ frames: Int) -> Int {
        guard isStarted, faults.isEmpty else { return 0 }
        let consumed = min(frames, pendingFrames)
        card.heard(pending[..<(consumed * frameBytes)])
        pending.removeFirst(consumed * frameBytes)
        return consumed
    }

    private func locked<Result>(_ body: () -> Result) throws(DeviceFault) -> Result {
        card.condition.lock()
        defer { card.condition.unlock() }
        card.consumeAllowance()
        if let fault = faults.first { throw fault }
        return body()
    }

    func writableFrames() throws(DeviceFault) -> Int {
        try locked { configuration.bufferFrames - pendingFrames }
    }

    func write(_ frames: Int, _ fill: (UnsafeMutableRawPointer, Int) -> Void) throws(DeviceFault) -> Int {
        let room = min(frames, try writableFrames())
        guard room > 0 else { return 0 }
        var bytes = [UInt8](repeating: 0, count: room * frameBytes)
        bytes.withUnsafeMutableBytes { fill($0.baseAddress!, room) }
        // At once: frames that a fault stops from being written are not heard either.
        try locked {
            pending += bytes
            card.condition.broadcast()
        }
        return room
    }

    func start() throws(DeviceFault) {
        if let fault = try locked({ card.startFault }) { throw fault }
        try locked {
            isStarted = true
            card.condition.broadcast()
        }
    }

    func delayFrames() throws(DeviceFault) -> Int {
        try locked {
            card.consumeGranted()
            return pendingFrames
        }
    }

    func wait(wakeUp: Int32, milliseconds: Int32) throws(DeviceFault) -> Bool {
        let wakeUpFrames = max(configuration.periodFrames, configuration.bufferFrames / 2)
        if try locked({ pendingFrames <= configuration.bufferFrames - wakeUpFrames }) { return false }
        var entries = [
            pollfd(fd: card.readable, events: Int16(POLLIN), revents: 0),
            pollfd(fd: wakeUp, events: Int16(POLLIN), revents: 0),
        ]
        poll(&entries, 2, milliseconds)
        if entries[0].revents != 0 {
            var count: UInt64 = 0
            _ = read(card.readable, &count, 8)
        }
        return entries[1].revents != 0
    }

    func drop() throws(DeviceFault) {
        try locked {
            pending = []
            isStarted = false
        }
    }

    func rewindableFrames() throws(DeviceFault) -> Int {
        try locked { card.canRewind && isStarted ? pendingFrames : 0 }
    }

    func rewind(_ frames: Int) throws(DeviceFault) -> Int {
        try locked {
            let taken = min(frames, pendingFrames)
            pending.removeLast(taken * frameBytes)
            return taken
        }
    }

    func drain() throws(DeviceFault) {
        try locked {
            _ = consume(.max)
            isStarted = false
        }
    }

    func recover(from fault: DeviceFault) -> Bool {
        card.condition.lock()
        defer { card.condition.unlock() }
        pending = []
        isStarted = false
        guard fault != .vanished else { return false }
        if faults.first == fault { faults.removeFirst() }
        return true
    }

    func close() {
        card.condition.lock()
        defer { card.condition.unlock() }
        pending = []
        if card.current === self { card.current = nil }
        card.condition.broadcast()
    }
}
