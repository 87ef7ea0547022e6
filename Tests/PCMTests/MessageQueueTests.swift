import PCM
import Testing

@Suite("Message queue")
struct MessageQueueTests {
    private enum Command: Equatable, BitwiseCopyable {
        case pause
        case seek(Double)
        case format(PCMFormat)
    }

    @Test("first in, first out, with any message")
    func order() {
        let commands: [Command] = [
            .seek(1.5), .pause, .format(PCMFormat(sampleRate: 96_000, channelCount: 2, bitDepth: 24)), .seek(-1),
        ]
        let queue = MessageQueue<Command>(capacity: 4)
        // More rounds than slots: the indices wrap.
        for _ in 0..<10 {
            for command in commands { #expect(queue.push(command)) }
            for command in commands { #expect(queue.pop() == command) }
            #expect(queue.pop() == nil)
        }
    }

    @Test(
        "the capacity is the next power of two, and a full queue takes nothing",
        arguments: [
            (0, 1), (1, 1), (2, 2), (3, 4), (64, 64), (65, 128),
        ])
    func capacity(asked: Int, capacity: Int) {
        let queue = MessageQueue<Int>(capacity: asked)
        #expect(queue.capacity == capacity)
        for number in 0..<capacity { #expect(queue.push(number)) }
        #expect(!queue.push(-1))
        #expect(queue.pop() == 0)
        #expect(queue.push(capacity))
        #expect(!queue.push(-1))
        for number in 1...capacity { #expect(queue.pop() == number) }
        #expect(queue.pop() == nil)
    }
}
