import Foundation
import PCM

@testable import Media

/// The output of ffmpeg's own decoder for a file.
enum AACReference {
    /// The arguments of ffmpeg's encoder. Noise that a decoder makes up is different in each of them.
    static let encoder = ["-c:a", "aac", "-aac_pns", "0"]

    /// Left-justified and interleaved.
    static func decode(_ bytes: [UInt8], _ name: String) throws -> [Int32] {
        try withTemporaryFolder { folder in
            try Data(bytes).write(to: folder.appendingPathComponent(name))
            let output = folder.appendingPathComponent("decoded")
            try Tool.ffmpeg.run(
                ["-loglevel", "error", "-i", name, "-f", "s32le", "-c:a", "pcm_s32le", "pipe:1"], in: folder,
                output: output)
            let data = Array(try Data(contentsOf: output))
            return stride(from: 0, to: data.count - 3, by: 4).map { place in
                Int32(bitPattern: (0..<4).reduce(0) { $0 | UInt32(data[place + $1]) << UInt32(8 * $1) })
            }
        }
    }

    /// One step of 16 bits.
    static let step: Int64 = 65_536

    /// Where two runs of samples are more than `step` apart; nil when they are not.
    static func difference(_ actual: [Int32], _ expected: [Int32], step: Int64 = step) -> String? {
        guard actual.count == expected.count else { return "\(actual.count) samples, expected \(expected.count)" }
        let index = zip(actual, expected).enumerated().first {
            abs(Int64($0.element.0) - Int64($0.element.1)) > step
        }?.offset
        return index.map { "sample \($0) is \(actual[$0]), not \(expected[$0])" }
    }
}
