import Foundation
import PCM

@testable import Media

extension Signal {
    /// The same with quiet passages, so that frames of variable bit rate have several sizes.
    var varied: Signal {
        let run = 10_000 * format.channelCount
        return Signal(samples.enumerated().map { $1 >> Int32(($0 / run) % 3 * 6) & -65_536 }, format)
    }

    /// The signal as the real `lame` encodes it, at its own rate.
    func lame(_ options: [String]) throws -> [UInt8] {
        try withTemporaryFolder { folder in
            try Files.write(extensibleWAV, "input.wav", folder)
            let rate = ["--resample", String(Double(format.sampleRate) / 1000)]
            try Tool.lame.run(["--quiet", "--noreplaygain"] + rate + options + ["input.wav", "file.mp3"], in: folder)
            return try Files.read("file.mp3", folder)
        }
    }
}

/// The output of `mpg123` for a file, left-justified and interleaved.
enum MP3Reference {
    static func decode(_ bytes: [UInt8], _ options: [String] = []) throws -> [Int32] {
        try withTemporaryFolder { folder in
            try Files.write(bytes, "file.mp3", folder)
            let output = folder.appendingPathComponent("decoded")
            try Tool.mpg123.run(
                ["-q", "--no-seekbuffer", "-e", "s32", "-s"] + options + ["file.mp3"], in: folder, output: output)
            let data = Array(try Data(contentsOf: output))
            return stride(from: 0, to: data.count - 3, by: 4).map { place in
                Int32(bitPattern: (0..<4).reduce(0) { $0 | UInt32(data[place + $1]) << UInt32(8 * $1) })
            }
        }
    }
}

/// A file of MPEG audio taken apart by its headers.
struct MP3Map {
    let bytes: [UInt8]
    /// Where each frame of MPEG begins, that with the header of Xing included, and where the last one ends.
    let offsets: [Int]

    /// - Parameter bytes: frames one after the other.
    init(_ bytes: [UInt8]) throws {
        self.bytes = bytes
        let sync = MPEGSync(MemorySource(bytes))
        guard let stream = try sync.stream(at: 0) else { throw Tool.Failure(description: "no frames") }
        var offsets = [0]
        while let header = try sync.header(at: Int64(offsets[offsets.count - 1])),
            let size = stream.byteCount(of: header)
        {
            offsets.append(offsets[offsets.count - 1] + size)
        }
        self.offsets = offsets
    }

    /// Frames without the one with the header of Xing.
    var count: Int { offsets.count - 2 }

    func frames(_ range: Range<Int>) -> [UInt8] {
        Array(bytes[offsets[range.lowerBound + 1]..<offsets[range.upperBound + 1]])
    }

    /// The frame with the header of Xing.
    var info: [UInt8] { Array(bytes[..<offsets[1]]) }
}
