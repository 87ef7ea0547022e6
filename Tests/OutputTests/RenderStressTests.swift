import Testing

@testable import Output

@Suite("Rendering under random commands, on the real thread")
struct RenderStressTests {
    @Test(
        "Under all requests and faults the sound is in order, with nothing twice and nothing missing",
        arguments: UInt64(1)...6)
    func commands(seed: UInt64) throws {
        let control = try RenderStressControl(seed: seed)
        control.play(streams: 120)
        let heard = control.finish()
        var ends: [Int: Int] = [:]
        for piece in heard {
            #expect(piece.frames.lowerBound == ends[piece.stream, default: 0], "stream \(piece.stream) of \(heard)")
            ends[piece.stream] = piece.frames.upperBound
        }
        var order: [Int] = []
        for piece in heard where order.last != piece.stream { order.append(piece.stream) }
        #expect(Set(order).count == order.count, "a replaced stream does not return: \(order)")
        for (stream, following) in zip(order, order.dropFirst()) where !control.begun.contains(following) {
            #expect(ends[stream] == control.length(of: stream), "\(stream) was cut off by \(following)")
        }
        #expect(ends[control.lastStream] == control.length(of: control.lastStream))
        // The reports match the sound.
        let followers = order.filter { !control.begun.contains($0) }
        #expect(control.toldAsHeard.filter { control.length(of: $0) > 0 } == followers)
    }
}
