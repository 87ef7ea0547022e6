/// The bytes of DSD around the next frame, channel by channel.
struct DSDWindow: ~Copyable {
    let channelCount: Int
    /// The number of the first byte in the channel. Below 0 are the mirrored bytes before the first one.
    private(set) var start: Int64 = 0
    private(set) var count = 0
    /// The number of the first byte after the end of the channel; nil before the end is known.
    private(set) var end: Int64?
    /// Whether the bytes before the first one are not there yet.
    private var lacksFront = false

    private var memory: UnsafeMutablePointer<UInt8>
    /// The capacity for each channel, in bytes.
    private var capacity: Int

    /// Bytes before the middle of a frame, and after it.
    private static let half = DSDFilter.byteCount / 2
    /// A pattern of bits whose mean is 0.
    static let silence: UInt8 = 0x69

    init(channelCount: Int) {
        self.channelCount = channelCount
        capacity = 16_384
        memory = .allocate(capacity: capacity * channelCount)
        begin(at: 0)
    }

    deinit { memory.deallocate() }

    /// Drops all bytes.
    /// - Parameter byte: the number of the next one.
    mutating func begin(at byte: Int64) {
        end = nil
        lacksFront = byte == 0
        count = lacksFront ? Self.half : 0
        start = byte - Int64(count)
    }

    /// The bytes of a channel.
    func bytes(of channel: Int) -> UnsafePointer<UInt8> { UnsafePointer(memory + channel * capacity) }

    /// How many frames can be computed, beginning with `frame`.
    func frames(from frame: Int64) -> Int {
        let first = frame * Int64(DSDFilter.step)
        guard !lacksFront, first - Int64(Self.half) >= start, end.map({ first < $0 }) ?? true else { return 0 }
        let last = min(start + Int64(count - Self.half), (end ?? .max) - 1)
        return last < first ? 0 : Int((last - first) / Int64(DSDFilter.step)) + 1
    }

    /// Drops bytes before a frame that no frame from there on needs.
    mutating func drop(before frame: Int64) {
        let dropped = Int(min(Int64(count), frame * Int64(DSDFilter.step) - Int64(Self.half) - start))
        guard dropped > 0, !lacksFront else { return }
        count -= dropped
        start += Int64(dropped)
        for channel in 0..<channelCount {
            let target = memory + channel * capacity
            target.update(from: target + dropped, count: count)
        }
    }

    /// - Parameter bytes: one byte of each channel in turn.
    mutating func append(_ bytes: UnsafeRawBufferPointer) {
        let added = bytes.count / channelCount
        reserve(count + added + Self.half)
        for channel in 0..<channelCount {
            let target = memory + (channel * capacity + count)
            var index = 0
            while index < added {
                target[index] = bytes[index &* channelCount &+ channel]
                index &+= 1
            }
        }
        count += added
        if count >= 2 * Self.half { addFront() }
    }

    /// Adds the mirrored bytes after the last one.
    mutating func finish() {
        guard end == nil else { return }
        addFront()
        reserve(count + Self.half)
        end = start + Int64(count)
        for channel in 0..<channelCount {
            let bytes = memory + channel * capacity
            for index in 0..<Self.half {
                bytes[count + index] = index < count ? bytes[count - 1 - index].bitsReversed : Self.silence
            }
        }
        count += Self.half
    }

    /// Adds the mirrored bytes before the first one.
    private mutating func addFront() {
        guard lacksFront else { return }
        lacksFront = false
        for channel in 0..<channelCount {
            let bytes = memory + channel * capacity
            for index in 0..<Self.half {
                let source = Self.half + index
                bytes[Self.half - 1 - index] = source < count ? bytes[source].bitsReversed : Self.silence
            }
        }
    }

    private mutating func reserve(_ size: Int) {
        guard size > capacity else { return }
        let larger = UnsafeMutablePointer<UInt8>.allocate(capacity: 2 * size * channelCount)
        for channel in 0..<channelCount {
            (larger + channel * 2 * size).update(from: memory + channel * capacity, count: count)
        }
        memory.deallocate()
        memory = larger
        capacity = 2 * size
    }
}
