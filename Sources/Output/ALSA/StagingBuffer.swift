import CALSA
import CLinux
import PCM

/// Frames for a device whose memory cannot be written directly. Allocated once, for the whole buffer of the device.
struct StagingBuffer: ~Copyable {
    let frameCapacity: Int
    private let bytes: UnsafeMutableRawPointer
    private let frameBytes: Int
    private var first = 0
    /// Frames that the device has not taken yet.
    private(set) var count = 0

    init(frameCapacity: Int, frameBytes: Int) throws(ALSAFailure) {
        let byteCount = FrameCount.product(Int64(frameCapacity), Int64(frameBytes))
        guard let size = Int(exactly: byteCount), let bytes = aligned_alloc(64, Self.roundedUp(size)) else {
            throw ALSAFailure(code: -ENOMEM)
        }
        self.frameCapacity = frameCapacity
        self.frameBytes = frameBytes
        self.bytes = bytes
    }

    deinit { free(bytes) }

    /// Rounds up to whole blocks of 64 bytes, as aligned_alloc(3) requires.
    private static func roundedUp(_ size: Int) -> Int { size > Int.max - 63 ? Int.max : (max(size, 1) + 63) & ~63 }

    /// Stores `frames` frames, at most the capacity. Call it only when the buffer is empty.
    mutating func fill(_ frames: Int, _ fill: (_ destination: UnsafeMutableRawPointer, _ frames: Int) -> Void) {
        fill(bytes, frames)
        first = 0
        count = frames
    }

    /// The next frames to write.
    var next: UnsafeRawPointer { UnsafeRawPointer(bytes + first * frameBytes) }

    mutating func consume(_ frames: Int) {
        first += frames
        count -= frames
    }

    mutating func clear() { count = 0 }
}
