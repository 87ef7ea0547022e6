/// A place between two frames of a stream of MPEG audio.
struct MPEGPlace: Equatable {
    var offset: Int64
    /// Frames of sound before it.
    var frame: Int64 = 0
    /// The stream of the file that continues here.
    var stream: UInt8 = 0
    /// Frames of MPEG since the decoder restarted, modulo `MP3Codec.phases`.
    var phase: UInt8 = 0
}

/// Every 128th place of a file, as far as it was read. For 12 hours these are 13,000 places, or 0.3 MB. Very long files
/// have a larger distance between places.
struct MPEGIndex {
    private(set) var positions: [MPEGPlace]
    /// The furthest place that was reached without a gap in the numbering.
    private(set) var frontier: MPEGPlace
    private var stride: Int
    /// Places since the last one in `positions`.
    private var distance = 0

    private static let mostPlaces = 32_768

    init(_ start: MPEGPlace, stride: Int = 128) {
        self.stride = stride
        positions = [start]
        frontier = start
    }

    /// Stores that one place follows another.
    mutating func add(_ next: MPEGPlace, after position: MPEGPlace) {
        guard position == frontier else { return }
        frontier = next
        distance += 1
        guard distance >= stride else { return }
        distance = 0
        positions.append(next)
        guard positions.count == Self.mostPlaces else { return }
        // For a file of more than 30 hours: half as many places, for twice the time.
        for index in 0..<(Self.mostPlaces / 2) { positions[index] = positions[2 * index] }
        positions.removeLast(Self.mostPlaces / 2)
        // The last one that was left out is half a step back.
        distance = stride
        stride *= 2
    }

    /// The number of the last place that is not after `frame`.
    func number(before frame: Int64) -> Int {
        var low = 0
        var high = positions.count
        while high - low > 1 {
            let middle = (low + high) / 2
            if positions[middle].frame <= frame { low = middle } else { high = middle }
        }
        return low
    }
}
