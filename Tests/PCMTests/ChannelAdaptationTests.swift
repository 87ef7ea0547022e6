import PCM
import Testing

@Suite("Channels for a device that has others (docs/playback.md, 8)")
struct ChannelAdaptationTests {
    @Test(
        "The same count, else the next above, else the next below",
        arguments: [
            (1, [1, 2], 1), (1, [2], 2), (1, [6, 8], 6), (2, [8], 8), (2, [1], 1), (4, [2, 6], 6), (6, [2], 2),
            (6, [2, 4], 4), (8, [2, 6], 6), (5, [1, 2], 2), (8, [1], 1), (2, [], nil),
        ] as [(Int, [Int], Int?)])
    func count(source: Int, device: [Int], expected: Int?) {
        #expect(ChannelAdaptation.deviceChannelCount(for: source, of: ChannelCounts(device)) == expected)
    }

    @Test(
        "The adaptation, and its text",
        arguments: [
            (1, 2, .copied, "mono on both channels"), (1, 6, .copied, "mono on the front channels of 6"),
            (2, 8, .placed, "2 channels on 8"), (4, 6, .placed, "4 channels on 6"),
            (5, 6, .placed, "5 channels on 6"), (6, 2, .mixed, "6 channels mixed down to 2"),
            (8, 6, .mixed, "8 channels mixed down to 6"), (2, 1, .mixed, "2 channels mixed down to 1"),
        ] as [(Int, Int, ChannelAdaptation.Kind, String)])
    func kind(source: Int, device: Int, kind: ChannelAdaptation.Kind, text: String) throws {
        let adaptation = try #require(ChannelAdaptation(from: source, to: device))
        #expect(adaptation.kind == kind)
        #expect("\(adaptation)" == text)
    }

    @Test(
        "Routing is an adaptation of its own, also between equal counts",
        arguments: [
            (2, 2, .swapped, .placed, "left and right swapped"), (2, 2, .mono, .mixed, "left and right mixed"),
            (2, 2, .left, .placed, "the left channel alone"), (2, 1, .right, .placed, nil),
            (6, 2, .left, .mixed, "6 channels mixed down to 2, the left channel alone"),
            (2, 8, .swapped, .placed, "2 channels on 8, left and right swapped"),
            (2, 8, .mono, .mixed, "2 channels on 8, left and right mixed"),
        ] as [(Int, Int, ChannelRouting, ChannelAdaptation.Kind, String?)])
    func routing(source: Int, device: Int, routing: ChannelRouting, kind: ChannelAdaptation.Kind, text: String?) throws
    {
        let adaptation = try #require(ChannelAdaptation(from: source, to: device, routing: routing))
        #expect(adaptation.kind == kind && adaptation.routing == routing)
        if let text { #expect("\(adaptation)" == text) }
        #expect(ChannelRouting(named: routing.rawValue) == routing)
    }

    @Test("A device with another order: exact where it has all positions, and shown")
    func layout() throws {
        let hda = try #require(
            ChannelLayout(order: [.left, .right, .backLeft, .backRight, .center, .lowFrequency]))
        let same = try #require(ChannelAdaptation(from: 6, to: 6, layout: hda))
        #expect(same.kind == .placed && "\(same)" == "6 channels in the device's order")
        #expect(ChannelAdaptation(from: 4, to: 6, layout: hda)?.kind == .placed)
        #expect(ChannelAdaptation(from: 6, to: 6, layout: ChannelLayout(6)) == nil)
        #expect(ChannelAdaptation(from: 2, to: 6, layout: ChannelLayout(6)) == ChannelAdaptation(from: 2, to: 6))
        let swapped = try #require(ChannelAdaptation(from: 6, to: 6, routing: .swapped, layout: hda))
        #expect("\(swapped)" == "6 channels in the device's order, left and right swapped")
        let wide = try #require(
            ChannelLayout(order: [.left, .right, .center, .lowFrequency, .backLeft, .backRight, nil, nil]))
        #expect(ChannelAdaptation(from: 8, to: 8, layout: wide)?.kind == .mixed)
        #expect(ChannelAdaptation(from: 6, to: 8, layout: wide)?.kind == .placed)
    }

    @Test(
        "A single pair of surrounds is the one that audio of as many channels has",
        arguments: [
            ([.left, .right, .sideLeft, .sideRight], 2, .backLeft),
            ([.left, .right, .center, .lowFrequency, .backCenter, .backLeft, .backRight], 5, .sideLeft),
            ([.right, .left, .sideRight, .sideLeft, .center], 3, .backLeft),
        ] as [([ChannelPosition?], Int, ChannelPosition)])
    func surrounds(order: [ChannelPosition?], channel: Int, position: ChannelPosition) throws {
        #expect(try #require(ChannelLayout(order: order)).channel(at: position) == channel)
    }

    @Test(
        "No layout without left or right, with a position twice, or with more than 8 channels",
        arguments: [
            [.left, .center, .backCenter], [.right, nil, nil], [.left, .right, .center, .center], [],
            [.left, .right] + Array(repeating: nil, count: 7),
        ] as [[ChannelPosition?]])
    func noLayout(order: [ChannelPosition?]) {
        #expect(ChannelLayout(order: order) == nil)
    }

    @Test("Mono has no sides")
    func monoRouting() {
        #expect(ChannelAdaptation(from: 1, to: 1, routing: .left) == nil)
        #expect(ChannelAdaptation(from: 1, to: 2, routing: .swapped) == ChannelAdaptation(from: 1, to: 2))
        #expect(ChannelRouting(named: "Left") == nil)
    }

    @Test("None between equal counts, from no channels, or from more than 8")
    func none() {
        #expect(ChannelAdaptation(from: 2, to: 2) == nil)
        #expect(ChannelAdaptation(from: 0, to: 2) == nil)
        #expect(ChannelAdaptation(from: 9, to: 2) == nil)
    }

    @Test("Channel counts outside what a device is driven with are left out")
    func counts() {
        #expect(ChannelCounts([8, 2, 0, -1, 32, 33, .max]).all == [2, 8, 32])
        #expect(ChannelCounts([2, 8]).next(above: 32) == nil)
        #expect(ChannelCounts([2, 8]).next(below: 1) == nil)
        #expect(!ChannelCounts([2, 8]).contains(0) && !ChannelCounts([2, 8]).contains(33))
    }
}
