import AllocationCounter
import Foundation
import PCM
import Testing

@testable import Output

@Suite("An open device does not allocate", .enabled(if: allocation_counter_works()))
struct AllocationTests {
    @Test("the counter counts this thread's heap calls")
    func counterCounts() {
        allocation_counter_start()
        let memory = UnsafeMutableRawPointer.allocate(byteCount: 1_000, alignment: 16)
        memory.deallocate()
        #expect(allocation_counter_stop() == 2)
    }

    @Test("a hundred rounds of writing, waiting and asking", arguments: [true, false])
    func steadyState(memoryMapping: Bool) throws {
        let provider = ALSADeviceProvider(configuration: .builtIn, memoryMapping: memoryMapping)
        let device = try provider.open(.stereo("null"))
        #expect(device.configuration.memoryMapped == memoryMapping)
        let bytes = 4 * 2
        var frames = 0
        func round() throws(DeviceFault) {
            let room = try device.writableFrames()
            frames += try device.write(min(room, 1_001)) { memset($0, 0, $1 * bytes) }
            try device.start()
            _ = try device.delayFrames()
            _ = try device.wait(wakeUp: -1, milliseconds: 10)
        }
        allocation_counter_start()
        do {
            for _ in 0..<100 { try round() }
            try device.drop()
            try round()
            _ = device.recover(from: .underrun)
            try round()
            try device.drain()
        } catch {
            _ = allocation_counter_stop()
            throw error
        }
        #expect(allocation_counter_stop() == 0)
        #expect(frames == 102 * 1_001)
    }
}
