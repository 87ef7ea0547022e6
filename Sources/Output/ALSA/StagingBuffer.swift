/// Frames on their way to a device whose memory cannot be written directly. Allocated once, for a device's whole
/// buffer.
struct StagingBuffer: ~Copyable {
    let frameCapacity: Int
    private let bytes: UnsafeMutableRawPointer
    private let frameBytes: Int
    private var first = 0
    /// Frames that the device has not taken yet.
    private(set) var count = 0

    init(frameCapacity: Int, frameBytes: Int) {
        self.frameCapacity = frameCapacity
        self.frameBytes = frameBytes
        bytes = .allocate(byteCount: frameCapacity * frameBytes, alignment: 64)
    }

    deinit { bytes.deallocate() }

    /// Takes `frames` frames, at most the capacity; only when empty.
    mutating func fill(_ frames: Int, _ fill: (_ destination: UnsafeMutableRawPointer, _ frames: Int) -> Void) {
        fill(bytes, frames)
        first = 0
        count = frames
    }

    /// The frames that come next.
    var next: UnsafeRawPointer { UnsafeRawPointer(bytes + first * frameBytes) }

    mutating func consume(_ frames: Int) {
        first += frames
        count -= frames
    }

    mutating func clear() { count = 0 }
}
