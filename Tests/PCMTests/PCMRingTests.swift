import Testing

@testable import PCM

@Suite("Ring: samples, markers and three cursors")
struct PCMRingTests {
    private let stereo = PCMFormat(sampleRate: 44_100, channelCount: 2, bitDepth: 16)
    private let surround = PCMFormat(sampleRate: 96_000, channelCount: 6, bitDepth: 24)

    /// Writes as many of `samples` as fit, in as many steps as it takes.
    @discardableResult
    private func write(_ samples: some Collection<Int32>, to ring: PCMRing) -> Int {
        var rest = samples[...]
        while !rest.isEmpty {
            let region = ring.writableRegion()
            guard !region.isEmpty else { break }
            let piece = rest.prefix(region.count)
            _ = region.update(fromContentsOf: piece)
            ring.commit(piece.count)
            rest = rest.dropFirst(piece.count)
        }
        return samples.count - rest.count
    }

    /// Reads up to the next marker or the end of the written samples.
    private func read(_ ring: PCMRing) -> [Int32] {
        var samples: [Int32] = []
        while case let region = ring.readableRegion(), !region.isEmpty {
            samples += region
            ring.advance(region.count)
        }
        return samples
    }

    @Test(
        "the capacity is a multiple of 840, at least twice that",
        arguments: [
            (0, 1680), (1, 1680), (1681, 2520), (2520, 2520), (44_100, 44_520),
        ])
    func capacity(asked: Int64, capacity: Int) throws {
        let ring = try PCMRing(capacity: asked)
        #expect(ring.capacity == capacity)
        #expect(ring.freeSamples == capacity)
        #expect(ring.writableRegion().count == capacity)
        #expect(ring.readableRegion().isEmpty)
        #expect(ring.pendingMarker == nil)
    }

    @Test("what goes in comes out, and again and again around the end of the memory")
    func wrapAround() throws {
        let ring = try PCMRing(capacity: 1680)
        var next: Int32 = 0
        for length in [1000, 1, 680, 1679, 1680, 840, 1300, 1680] {
            let samples = (0..<Int32(length)).map { next + $0 }
            next += Int32(length)
            #expect(write(samples, to: ring) == length)
            #expect(read(ring) == samples)
            ring.release(upTo: ring.readPosition)
        }
        #expect(ring.readPosition == Int64(next))
    }

    @Test("the producer stops at what was not released, not at what was not read")
    func full() throws {
        let ring = try PCMRing(capacity: 1680)
        #expect(write([Int32](repeating: 1, count: 2000), to: ring) == 1680)
        #expect(ring.freeSamples == 0 && ring.writableRegion().isEmpty)
        ring.advance(1000)
        #expect(ring.freeSamples == 0)
        ring.release(upTo: 600)
        #expect(ring.freeSamples == 600 && ring.writableRegion().count == 600)
    }

    @Test("a frame lies in one piece for every channel count", arguments: 1...8)
    func wholeFrames(channelCount: Int) throws {
        let ring = try PCMRing(capacity: 2520)
        _ = ring.put(.format(PCMFormat(sampleRate: 48_000, channelCount: channelCount, bitDepth: 16)))
        ring.passMarker()
        for _ in 0..<10 {
            let region = ring.writableRegion()
            #expect(region.count % channelCount == 0)
            let frames = min(region.count / channelCount, 97)
            ring.commit(frames * channelCount)
            while case let region = ring.readableRegion(), !region.isEmpty {
                #expect(region.count % channelCount == 0)
                ring.advance(region.count)
            }
            ring.release(upTo: ring.readPosition)
        }
    }

    @Test("a marker stops reading exactly where it was put, and the audio after it starts at a multiple of 840")
    func markers() throws {
        let ring = try PCMRing(capacity: 8400)
        #expect(ring.put(.format(stereo)))
        #expect(ring.pendingMarker == .init(marker: .format(stereo), position: 0, resumption: 840))
        #expect(ring.readableRegion().isEmpty)
        ring.passMarker()

        write([1, 2, 3, 4], to: ring)
        #expect(ring.put(.format(surround)))
        write([5, 6], to: ring)
        #expect(ring.put(.end))

        #expect(ring.pendingMarker == nil)
        #expect(read(ring) == [1, 2, 3, 4])
        #expect(ring.pendingMarker == .init(marker: .format(surround), position: 844, resumption: 1680))
        ring.passMarker()
        #expect(ring.pendingMarker == nil)
        #expect(read(ring) == [5, 6])
        #expect(ring.pendingMarker?.marker == .end)
        ring.passMarker()
        #expect(ring.pendingMarker == nil)
        write([7], to: ring)
        #expect(read(ring) == [7])
    }

    @Test("a marker takes a place even at a multiple of 840, so that a position tells its side of the marker")
    func markerAtBoundary() throws {
        let ring = try PCMRing(capacity: 4200)
        write([Int32](repeating: 1, count: 840), to: ring)
        #expect(ring.put(.end))
        #expect(read(ring).count == 840)
        #expect(ring.pendingMarker == .init(marker: .end, position: 840, resumption: 1680))
    }

    @Test("markers can follow each other without a sample between")
    func adjacentMarkers() throws {
        let ring = try PCMRing(capacity: 4200)
        #expect(ring.put(.format(stereo)) && ring.put(.end) && ring.put(.format(surround)))
        #expect(ring.pendingMarker?.marker == .format(stereo))
        ring.passMarker()
        #expect(ring.pendingMarker?.marker == .end)
        ring.passMarker()
        #expect(ring.pendingMarker?.marker == .format(surround))
        ring.passMarker()
        #expect(ring.pendingMarker == nil && ring.readPosition == 2520)
    }

    @Test("a marker that finds no room changes nothing: no slot")
    func noSlot() throws {
        let ring = try PCMRing(capacity: 84_000, markerCapacity: 2)
        #expect(ring.put(.format(stereo)) && ring.put(.end))
        #expect(!ring.put(.end))
        #expect(ring.writePosition == 1680)
        ring.passMarker()
        // A passed marker still takes up its room, because the consumer may return to it.
        #expect(!ring.put(.end))
        ring.release(upTo: 840)
        #expect(ring.put(.end))
    }

    @Test("a marker that finds no room changes nothing: no positions")
    func noPositions() throws {
        let ring = try PCMRing(capacity: 1680)
        write([Int32](repeating: 1, count: 840), to: ring)
        #expect(ring.put(.end))
        #expect(!ring.put(.end))
        #expect(ring.writePosition == 1680)
        ring.advance(840)
        ring.passMarker()
        ring.release(upTo: 1680)
        #expect(ring.put(.end))
    }

    @Test("what was not released is read again after a rewind, markers included")
    func rewind() throws {
        let ring = try PCMRing(capacity: 8400)
        _ = ring.put(.format(stereo))
        write(1...10, to: ring)
        _ = ring.put(.format(surround))
        write(11...16, to: ring)
        ring.passMarker()
        #expect(read(ring) == Array(1...10))
        ring.passMarker()
        #expect(read(ring) == Array(11...16))

        // Within the second format: its marker stays passed.
        ring.rewind(to: 1680)
        #expect(ring.pendingMarker == nil)
        #expect(read(ring) == Array(11...16))

        ring.release(upTo: 846)
        ring.rewind(to: 846)
        #expect(read(ring) == Array(7...10))
        #expect(ring.pendingMarker?.marker == .format(surround))
        ring.passMarker()
        #expect(read(ring) == Array(11...16))
    }

    @Test("positions that a marker takes up count as the marker's own", arguments: [850, 851, 1000, 1679] as [Int64])
    func withinMarker(position: Int64) throws {
        let ring = try PCMRing(capacity: 8400)
        _ = ring.put(.format(stereo))
        write(1...10, to: ring)
        _ = ring.put(.format(surround))
        ring.passMarker()
        _ = read(ring)
        ring.passMarker()
        #expect(ring.readPosition == 1680)

        ring.rewind(to: position)
        #expect(ring.readPosition == 850)
        #expect(ring.pendingMarker?.marker == .format(surround))
        ring.passMarker()
        ring.release(upTo: position)
        #expect(ring.releasedPosition == 850)
        ring.rewind(to: 850)
        #expect(ring.pendingMarker?.marker == .format(surround))
    }

    @Test("releasing never goes back")
    func releaseIsMonotonic() throws {
        let ring = try PCMRing(capacity: 1680)
        write(1...100, to: ring)
        ring.advance(100)
        ring.release(upTo: 60)
        ring.release(upTo: 20)
        #expect(ring.releasedPosition == 60)
    }

    @Test("missing memory is an error, with any capacity", arguments: [1 << 44, .max - 1, .max] as [Int64])
    func outOfMemory(capacity: Int64) {
        #expect(throws: OutOfMemory.self) { try PCMRing(capacity: capacity) }
    }
}
