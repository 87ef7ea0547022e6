import PCM
import Testing

@Suite("Mixing channels down: ITU-R BS.775")
struct ChannelMixerTests {
    private static let extremes: [Int32] = [.min, .min + 1, -1, 0, 1, .max - 1, .max]

    private func mixed(
        _ samples: [Int32], from source: Int, to device: Int, _ routing: ChannelRouting = .straight,
        layout: ChannelLayout? = nil
    ) throws -> [Int32] {
        let mixer = ChannelMixer(
            try #require(ChannelAdaptation(from: source, to: device, routing: routing, layout: layout)))
        let frames = samples.count / source
        return [Int32](unsafeUninitializedCapacity: frames * device) { target, count in
            samples.withUnsafeBufferPointer {
                mixer.mix($0.baseAddress!, frames: frames, to: target.baseAddress!)
            }
            count = frames * device
        }
    }

    /// Noise with every combination of extremes in front where there are few channels.
    private func signal(channels: Int) -> [Int32] {
        var noise = SystemRandomNumberGenerator()
        var samples: [Int32] = []
        for extreme in Self.extremes { samples += Array(repeating: extreme, count: channels) }
        for _ in 0..<2000 { samples += (0..<channels).map { _ in Self.extremes.randomElement(using: &noise)! } }
        for _ in 0..<(2000 * channels) { samples.append(.random(in: .min ... .max, using: &noise)) }
        return samples
    }

    @Test("Mono is copied bit for bit to the front channels", arguments: [2, 6])
    func mono(device: Int) throws {
        let samples = signal(channels: 1)
        let silence = [Int32](repeating: 0, count: device - 2)
        #expect(try mixed(samples, from: 1, to: device) == samples.flatMap { [$0, $0] + silence })
    }

    @Test("Channels with a place of their own are copied bit for bit")
    func placed() throws {
        let stereo = signal(channels: 2)
        let pairs = stride(from: 0, to: stereo.count, by: 2)
        #expect(
            try mixed(stereo, from: 2, to: 8)
                == pairs.flatMap { [stereo[$0], stereo[$0 + 1], 0, 0, 0, 0, 0, 0] })
        let five = signal(channels: 5)
        let frames = stride(from: 0, to: five.count, by: 5)
        #expect(
            try mixed(five, from: 5, to: 6)
                == frames.flatMap { [five[$0], five[$0 + 1], five[$0 + 2], 0, five[$0 + 3], five[$0 + 4]] })
    }

    @Test("Every order of a device gets each channel at its position, bit for bit", arguments: 3...8)
    func ordered(count: Int) throws {
        var positions: [ChannelPosition] = []
        ChannelLayout(count).forEach { _, position in positions.append(position) }
        var noise = FixedRandom(state: UInt64(count))
        let samples = signal(channels: count)
        for _ in 0..<20 {
            let order = Array(0..<count).shuffled(using: &noise)
            let layout = try #require(ChannelLayout(order: order.map { positions[$0] }))
            guard layout != ChannelLayout(count) else { continue }
            let frames = stride(from: 0, to: samples.count, by: count)
            #expect(
                try mixed(samples, from: count, to: count, layout: layout)
                    == frames.flatMap { frame in order.map { samples[frame + $0] } })
        }
    }

    @Test("Routing: sides are copied bit for bit, and the mean of both is rounded to nearest")
    func routing() throws {
        let samples = signal(channels: 2)
        func each(_ body: (Int32, Int32) -> [Int32]) -> [Int32] {
            stride(from: 0, to: samples.count, by: 2).flatMap { body(samples[$0], samples[$0 + 1]) }
        }
        func mean(_ left: Int32, _ right: Int32) -> Int32 { Int32((Int64(left) + Int64(right) + 1) >> 1) }
        #expect(try mixed(samples, from: 2, to: 2, .swapped) == each { [$1, $0] })
        #expect(try mixed(samples, from: 2, to: 2, .left) == each { left, _ in [left, left] })
        #expect(try mixed(samples, from: 2, to: 2, .right) == each { _, right in [right, right] })
        #expect(try mixed(samples, from: 2, to: 2, .mono) == each { [mean($0, $1), mean($0, $1)] })
        #expect(try mixed(samples, from: 2, to: 1, .left) == each { left, _ in [left] })
        #expect(try mixed(samples, from: 2, to: 1, .right) == each { _, right in [right] })
        #expect(try mixed(samples, from: 2, to: 1, .mono) == mixed(samples, from: 2, to: 1))
    }

    @Test("The left side of 5.1 is that of its mix to stereo")
    func routedMix() throws {
        let samples = signal(channels: 6)
        let stereo = try mixed(samples, from: 6, to: 2)
        let left = try mixed(samples, from: 6, to: 2, .left)
        #expect(left == stride(from: 0, to: stereo.count, by: 2).flatMap { [stereo[$0], stereo[$0]] })
        #expect(
            try mixed(samples, from: 6, to: 2, .swapped)
                == stride(from: 0, to: stereo.count, by: 2).flatMap {
                    [stereo[$0 + 1], stereo[$0]]
                })
    }

    /// The BS.775 coefficients of each layout in FLAC's order, before scaling: left first, then right.
    private static let h = 0.5.squareRoot()
    private static let stereo: [Int: [[Double]]] = [
        3: [[1, 0, h], [0, 1, h]],
        4: [[1, 0, h, 0], [0, 1, 0, h]],
        5: [[1, 0, h, h, 0], [0, 1, h, 0, h]],
        6: [[1, 0, h, 0, h, 0], [0, 1, h, 0, 0, h]],
        7: [[1, 0, h, 0, 0.5, h, 0], [0, 1, h, 0, 0.5, 0, h]],
        8: [[1, 0, h, 0, h, 0, h, 0], [0, 1, h, 0, 0, h, 0, h]],
    ]

    @Test("To stereo, against a reference in double precision", arguments: [3, 4, 5, 6, 7, 8])
    func reference(channels: Int) throws {
        let rows = try #require(Self.stereo[channels])
        let scale = 1 / rows.map { $0.reduce(0, +) }.max()!
        let samples = signal(channels: channels)
        let result = try mixed(samples, from: channels, to: 2)
        // A factor is rounded down by less than 2⁻³⁰: at most two steps of 2⁻³¹ for each channel, and half a step.
        let bound = Double(2 * channels) + 0.5
        for frame in 0..<(samples.count / channels) {
            for side in 0..<2 {
                let sum = (0..<channels).reduce(0.0) { $0 + Double(samples[frame * channels + $1]) * rows[side][$1] }
                let difference = Double(result[frame * 2 + side]) - sum * scale
                guard abs(difference) <= bound else {
                    Issue.record("frame \(frame), side \(side): off by \(difference)")
                    return
                }
            }
        }
    }

    @Test("7.1 to 5.1 keeps the front, and both surrounds of a side go to its back")
    func surroundToSurround() throws {
        let frame: [Int32] = [1 << 30, -(1 << 30), 1 << 29, 1 << 28, 1 << 27, 1 << 26, 1 << 25, 1 << 24]
        let expected = [
            frame[0] / 2, frame[1] / 2, frame[2] / 2, frame[3] / 2, (frame[4] + frame[6]) / 2,
            (frame[5] + frame[7]) / 2,
        ]
        #expect(try mixed(frame, from: 8, to: 6) == expected)
    }

    @Test("Stereo on one channel is the mean of both")
    func toMono() throws {
        #expect(try mixed([100, 200, .max, .max, .min, .min], from: 2, to: 1) == [150, .max, .min])
    }

    @Test("Full scale in all channels is full scale, and no combination of extremes overflows", arguments: 3...8)
    func fullScale(channels: Int) throws {
        for extreme in [Int32.min, .max] {
            let result = try mixed(Array(repeating: extreme, count: channels), from: channels, to: 2)
            for sample in result {
                #expect((sample < 0) == (extreme < 0))
                #expect(abs(Int64(sample) - Int64(extreme)) <= Int64(2 * channels))
            }
        }
    }
}
