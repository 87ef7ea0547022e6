import Testing

@testable import PCM

@Suite("Ring against a model: an array that forgets nothing")
struct PCMRingModelTests {
    /// Everything that was ever put into the ring, by position.
    private struct Model {
        var samples: [Int32] = []
        var markers: [PCMRing.PlacedMarker] = []
        var read: Int64 = 0
        var released: Int64 = 0
        var end: Int64 { Int64(samples.count) }

        mutating func put(_ marker: PCMRing.Marker) {
            let position = end
            // Positions inside a marker are never read.
            repeat { samples.append(.min) } while samples.count % 840 != 0
            markers.append(.init(marker: marker, position: position, resumption: end))
        }

        var next: PCMRing.PlacedMarker? { markers.first { $0.position >= read } }
        var pending: PCMRing.PlacedMarker? { next.flatMap { $0.position == read ? $0 : nil } }
        var unread: ArraySlice<Int32> { samples[Int(read)..<Int(next?.position ?? end)] }

        /// The position that the ring makes of one within a marker.
        func settled(_ position: Int64) -> Int64 {
            markers.first { $0.position <= position && position < $0.resumption }?.position ?? position
        }
    }

    @Test("10 000 random operations", arguments: [1680, 2520, 8400, 84_000])
    func randomOperations(capacity: Int64) throws {
        var random = FixedRandom(state: UInt64(capacity))
        let markerCapacity = 5
        let ring = try PCMRing(capacity: capacity, markerCapacity: markerCapacity)
        var model = Model()
        var nextSample: Int32 = 0

        for _ in 0..<10_000 {
            switch Int.random(in: 0..<16, using: &random) {
            case 0..<5:
                let region = ring.writableRegion()
                let count = min(region.count, Int.random(in: 0...700, using: &random))
                for index in 0..<count {
                    region[index] = nextSample
                    model.samples.append(nextSample)
                    nextSample += 1
                }
                ring.commit(count)
            case 5:
                let marker: PCMRing.Marker =
                    Bool.random(using: &random)
                    ? .end : .format(PCMFormat(sampleRate: Int(nextSample), channelCount: 2, bitDepth: 16))
                let kept = model.markers.count { $0.position >= model.released }
                let taken = 840 - model.end % 840
                let fits = kept < markerCapacity && taken <= Int64(ring.capacity) - (model.end - model.released)
                #expect(ring.put(marker) == fits)
                if fits { model.put(marker) }
            case 6..<11:
                let region = ring.readableRegion()
                #expect(region.elementsEqual(model.unread.prefix(region.count)))
                #expect(region.count == min(model.unread.count, ring.capacity - Int(model.read) % ring.capacity))
                let count = Int.random(in: 0...region.count, using: &random)
                ring.advance(count)
                model.read += Int64(count)
            case 11..<13:
                if let pending = model.pending {
                    ring.passMarker()
                    model.read = pending.resumption
                }
            case 13..<15:
                let position = Int64.random(in: model.released...model.read, using: &random)
                ring.release(upTo: position)
                model.released = model.settled(position)
            default:
                let position = Int64.random(in: model.released...model.read, using: &random)
                ring.rewind(to: position)
                model.read = model.settled(position)
            }
            #expect(ring.pendingMarker == model.pending)
            #expect(ring.readPosition == model.read)
            #expect(ring.releasedPosition == model.released)
            #expect(ring.freeSamples == ring.capacity - Int(model.end - model.released))
        }
        // The run has gone round the memory and through the marker slots several times.
        #expect(model.samples.count > 4 * capacity)
        #expect(model.markers.count > 4 * markerCapacity)
    }
}
