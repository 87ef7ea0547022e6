/// Converts between the times of a file and decoded frames.
///
/// Times are rounded, usually to milliseconds. The times of several blocks, and the packet lengths of the codec, give
/// the exact frame again.
struct MatroskaClock {
    /// Frames per second of the decoded audio.
    let sampleRate: Int64
    /// Frames of a packet, for a codec whose packets have one length.
    let packetFrameCount: Int64
    /// Frames that are decoded before one that is played.
    let preroll: Int64

    private let codec: MatroskaCodec
    /// Frames in a unit of time.
    private let framesPerUnit: Double
    /// The granularity: every packet begins at a multiple of this.
    private var step: Int64
    /// The time of the first packet in frames, from the first blocks; nil when it is not known.
    private var start: Double?
    /// The number of the first packet's first frame, from the packet itself.
    private var firstFrame: Int64 = 0

    /// The most blocks whose times are compared.
    private static let mostTimes = 24
    /// Shorter packets of PCM and WavPack do not help against rounded times: a packet must last more than this part of
    /// a second, four milliseconds.
    private static let fewestSteps: Int64 = 250

    /// - Parameters:
    ///   - packetFrameCount: nil: that of the codec.
    ///   - preroll: nil: that of the codec.
    init(
        _ segment: MatroskaSegment, sampleRate: Int, packetFrameCount: Int? = nil, preroll: Int64? = nil
    ) {
        codec = segment.track.codec
        self.sampleRate = Int64(sampleRate)
        self.packetFrameCount = packetFrameCount.map { Int64($0) } ?? codec.packetFrameCount
        self.preroll = preroll ?? codec.preroll
        framesPerUnit = Double(segment.timestampScale) * Double(sampleRate) / 1e9
        step = packetFrameCount.map { Int64($0) } ?? codec.step
    }

    /// The tolerance in frames: times may be wrong, or jump, by this much without a gap.
    private var tolerance: Int64 { sampleRate / 10 }

    /// A second, in units of time.
    var second: Int64 { Self.integer(Double(sampleRate) / framesPerUnit) }

    func frames(ofUnits units: Double) -> Int64 { Self.integer(units * framesPerUnit) }

    func frames(ofNanoseconds count: Int64) -> Int64 { Self.integer(Double(count) * Double(sampleRate) / 1e9) }

    func units(ofFrame frame: Int64) -> Int64 { Self.integer((Double(frame) + (start ?? 0)) / framesPerUnit) }

    private static func integer(_ value: Double) -> Int64 {
        let largest = Double(AudioLimits.largestData)
        return Int64(max(-largest, min(largest, value.rounded())))
    }

    /// Frames that a packet decodes to.
    func duration(of head: [UInt8], _ packet: MatroskaPacket, after block: inout Int) -> Int64 {
        head.withUnsafeBytes {
            codec.frameCount(
                $0, size: packet.range.upperBound - packet.range.lowerBound, usual: packetFrameCount, after: &block)
        }
    }

    /// Frames at the end of a packet that are not played when it is the last one.
    func padding(_ packet: MatroskaPacket, _ duration: Int64) -> Int64 {
        max(0, min(duration, frames(ofNanoseconds: packet.discard)))
    }

    // MARK: Times

    /// Finds the time of the first packet.
    mutating func measure(from position: MatroskaPlace, _ walk: MatroskaWalk) throws(Interruption) {
        start = try middle(from: position, walk)
        var next = position
        guard case .packet(let packet) = try walk.step(&next) else { return }
        let head = try walk.head(of: packet)
        firstFrame = head.withUnsafeBytes { codec.firstFrame($0) } ?? 0
        switch codec {
        case .pcm, .wavpack: break
        default: return
        }
        let count = duration(of: head, packet, after: &next.blockSize)
        step = count > sampleRate / Self.fewestSteps ? count : 1
    }

    /// The place with the time of its packet; nil when it cannot be found.
    func timed(_ position: MatroskaPlace, _ walk: MatroskaWalk) throws(Interruption) -> MatroskaPlace? {
        var found = position
        var next = position
        if codec.isNumbered {
            guard case .packet(let packet) = try walk.step(&next),
                let frame = try numbered(packet, walk)
            else { return nil }
            found.time = frame
            return found
        }
        guard let start, let middle = try middle(from: position, walk) else { return nil }
        found.time = max(0, stepped(middle - start))
        return found
    }

    /// Frames that are missing before a packet by its number or time; nil when there are none.
    /// - Parameter next: the place after the packet. A time counts only when a later one agrees.
    func gap(
        before packet: MatroskaPacket, at frame: Int64, _ walk: MatroskaWalk, next: MatroskaPlace
    ) throws(Interruption) -> Int64? {
        if codec.isNumbered {
            guard let number = try numbered(packet, walk), number > frame else { return nil }
            return number - frame
        }
        guard let start, let time = packet.time else { return nil }
        let missing = stepped(Double(time) * framesPerUnit - start) - frame
        guard missing > tolerance else { return nil }
        var here = next
        here.time = frame + duration(of: try walk.head(of: packet), packet, after: &here.blockSize)
        for _ in 0..<Self.mostTimes {
            guard case .packet(let later) = try walk.step(&here) else { break }
            if let time = later.time {
                let agrees = stepped(Double(time) * framesPerUnit - start) - here.time > tolerance
                return agrees ? missing : nil
            }
            here.time += duration(of: try walk.head(of: later), later, after: &here.blockSize)
        }
        return nil
    }

    private func numbered(_ packet: MatroskaPacket, _ walk: MatroskaWalk) throws(Interruption) -> Int64? {
        let head = try walk.head(of: packet)
        guard let frame = head.withUnsafeBytes({ codec.firstFrame($0) }), frame >= firstFrame else { return nil }
        return frame - firstFrame
    }

    private func stepped(_ frames: Double) -> Int64 {
        Self.integer(Double(Self.integer(frames)) / Double(step)) * step
    }

    /// The start of a packet in frames: the middle of the range that the next blocks allow.
    private func middle(from position: MatroskaPlace, _ walk: MatroskaWalk) throws(Interruption) -> Double? {
        var here = position
        (here.time, here.blockSize) = (0, 0)
        var range: ClosedRange<Double>?
        for index in 0..<Self.mostTimes {
            var next = here
            guard case .packet(let packet) = try walk.step(&next) else { break }
            // The first packet of Vorbis only serves to decode the next one.
            if let time = packet.time, index > 0 || !codec.needsPacketBefore {
                let frame = Double(time) * framesPerUnit - Double(here.time)
                let known = range ?? frame...frame
                guard abs(frame - known.lowerBound) < Double(tolerance) else { break }
                range = min(frame, known.lowerBound)...max(frame, known.upperBound)
            }
            next.time += duration(of: try walk.head(of: packet), packet, after: &next.blockSize)
            here = next
        }
        return range.map { ($0.lowerBound + $0.upperBound) / 2 }
    }
}
