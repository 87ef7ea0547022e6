import Testing

@testable import Output

@Suite("Rendering under random commands, on the real thread")
struct RenderStressTests {
    @Test(
        "Whatever happens to it, what is heard is in order, nothing twice and nothing missing",
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
        #expect(Set(order).count == order.count, "a stream gives way for good: \(order)")
        for (stream, following) in zip(order, order.dropFirst()) where !control.begun.contains(following) {
            #expect(ends[stream] == control.length(of: stream), "\(stream) was cut off by \(following)")
        }
        #expect(ends[control.lastStream] == control.length(of: control.lastStream))
        // What was told is what was heard.
        let followers = order.filter { !control.begun.contains($0) }
        #expect(control.toldAsHeard.filter { control.length(of: $0) > 0 } == followers)
    }
}
