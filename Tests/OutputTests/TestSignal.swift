import Foundation
import PCM

@testable import Output

/// Frames whose bytes all differ from their neighbours, written to a device in calls of given sizes.
final class TestSignal {
    let bytes: [UInt8]
    private let frameBytes: Int
    private var position = 0

    init(frames: Int, frameBytes: Int) {
        self.frameBytes = frameBytes
        bytes = (0..<frames * frameBytes).map { UInt8(truncatingIfNeeded: $0 &* 2_654_435_761 >> 7) }
    }

    var isOver: Bool { position == bytes.count }

    /// Writes until everything is committed, starting the clock after the first piece as a renderer does.
    /// - Parameter afterPiece: called between the writes, for example to move the converter.
    func play(
        into device: any PlaybackDevice, pieces: [Int], starting: Bool = true, afterPiece: () -> Void = {}
    ) throws {
        var turn = 0
        while !isOver {
            let wanted = min(pieces[turn % pieces.count], (bytes.count - position) / frameBytes)
            _ = try device.write(wanted) { destination, frames in
                let count = frames * frameBytes
                bytes.withUnsafeBytes { destination.copyMemory(from: $0.baseAddress! + position, byteCount: count) }
                position += count
            }
            if starting { try device.start() }
            afterPiece()
            turn += 1
        }
    }
}

/// A folder that is deleted with its owner.
final class TemporaryFolder {
    let path: String

    init() throws {
        path = NSTemporaryDirectory() + "/tonearm-output-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    func contents(of name: String) throws -> [UInt8] {
        Array(try Data(contentsOf: URL(fileURLWithPath: path + "/" + name)))
    }
}

extension DeviceRequest {
    static func stereo(_ device: String, rate: Int = 44_100, _ sampleFormat: SampleFormat? = nil) -> DeviceRequest {
        DeviceRequest(
            device: device, format: PCMFormat(sampleRate: rate, channelCount: 2, bitDepth: 16),
            sampleFormat: sampleFormat)
    }
}
