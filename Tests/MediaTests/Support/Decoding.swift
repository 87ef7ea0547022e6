import PCM

@testable import Media

/// The output of a decoder up to its end.
struct Decoded: Equatable {
    struct Part: Equatable {
        var format: PCMFormat
        var samples: [Int32]
    }
    var parts: [Part]
    var error: MediaError?

    /// The samples of a stream whose format does not change.
    var samples: [Int32] { parts.count == 1 ? parts[0].samples : [] }
}

extension AudioDecoder {
    /// Reads to the end or to an error, with buffers of `bufferFrames` frames of 8 channels.
    func decodeAll(bufferFrames: Int = 4096, limit: Int = 50_000_000) -> Decoded {
        var result = Decoded(parts: [.init(format: properties.format, samples: [])])
        let buffer = UnsafeMutableBufferPointer<Int32>.allocate(capacity: bufferFrames * 8)
        defer { buffer.deallocate() }
        do throws(MediaError) {
            reading: while result.parts.reduce(0, { $0 + $1.samples.count }) < limit {
                switch try read(into: buffer) {
                case .frames(let count):
                    let channelCount = result.parts[result.parts.count - 1].format.channelCount
                    precondition(count > 0 && count * channelCount <= buffer.count)
                    result.parts[result.parts.count - 1].samples += buffer[..<(count * channelCount)]
                case .format(let format):
                    precondition(format != result.parts[result.parts.count - 1].format)
                    if result.parts[result.parts.count - 1].samples.isEmpty { result.parts.removeLast() }
                    result.parts.append(.init(format: format, samples: []))
                case .notYet:
                    continue
                case .end:
                    break reading
                }
            }
        } catch {
            result.error = error
        }
        return result
    }

    /// The next `frames` frames, fewer at the end.
    func decode(frames: Int) throws(MediaError) -> [Int32] {
        let channelCount = properties.format.channelCount
        var samples: [Int32] = []
        let buffer = UnsafeMutableBufferPointer<Int32>.allocate(capacity: 1024 * 8)
        defer { buffer.deallocate() }
        while samples.count < frames * channelCount {
            let run = try read(into: buffer)
            if run == .notYet { continue }
            guard case .frames(let count) = run else { break }
            samples += buffer[..<(count * channelCount)]
        }
        return Array(samples.prefix(frames * channelCount))
    }
}

func decode(_ bytes: [UInt8]) throws -> (decoded: Decoded, damage: DamageReport) {
    let decoder = try AudioFile.open(MemorySource(bytes))
    let decoded = decoder.decodeAll()
    return (decoded, decoder.damage)
}

/// Where two runs of samples part, in words short enough for a test report; nil when they are equal.
func difference(_ actual: [Int32], _ expected: [Int32]) -> String? {
    if actual == expected { return nil }
    let index = zip(actual, expected).enumerated().first { $0.element.0 != $0.element.1 }?.offset
    let place = index.map { "sample \($0) is \(actual[$0]), not \(expected[$0])" } ?? "equal as far as both go"
    return "\(actual.count) samples, expected \(expected.count); \(place)"
}
