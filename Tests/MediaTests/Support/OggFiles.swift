import Foundation
import PCM

@testable import Media

extension Signal {
    /// The signal as the real `oggenc` encodes it.
    func oggenc(_ options: [String] = []) throws -> [UInt8] {
        try withTemporaryFolder { folder in
            try Files.write(extensibleWAV, "input.wav", folder)
            try Tool.oggenc.run(["--quiet"] + options + ["-o", "file.ogg", "input.wav"], in: folder)
            return try Files.read("file.ogg", folder)
        }
    }

    /// The signal as the real `opusenc` encodes it.
    func opusenc(_ options: [String] = []) throws -> [UInt8] {
        try withTemporaryFolder { folder in
            try Files.write(extensibleWAV, "input.wav", folder)
            try Tool.opusenc.run(["--quiet"] + options + ["input.wav", "file.opus"], in: folder)
            return try Files.read("file.opus", folder)
        }
    }

    /// A signal that suits lossy codecs: tones that come and go over a little noise.
    static func music(frames: Int, rate: Int = 48_000, channels: Int = 2, seed: UInt64 = 1) -> Signal {
        var generator = SeededGenerator(seed: seed)
        var samples: [Int32] = []
        samples.reserveCapacity(frames * channels)
        for frame in 0..<frames {
            let time = Double(frame) / Double(rate)
            let step = time * 4
            let fade = 1 - (step - step.rounded(.down))
            for channel in 0..<channels {
                let pitch = 110.0 * (1 + Double(Int(step) * (channel + 3) % 7))
                let noise = Double(Int32(truncatingIfNeeded: generator.next())) / 2_147_483_648
                let value = 0.3 * fade * sin(2 * .pi * pitch * time) + 0.02 * noise
                samples.append(Int32(value * 32_767) << 16)
            }
        }
        return Signal(samples, PCMFormat(sampleRate: rate, channelCount: channels, bitDepth: 16))
    }
}

/// The output of the libraries' own programs for a file, left-justified and interleaved.
enum OggReference {
    /// `oggdec`: 16 bits.
    static func vorbis(_ bytes: [UInt8]) throws -> [Int32] {
        try withTemporaryFolder { folder in
            try Files.write(bytes, "file.ogg", folder)
            try Tool.oggdec.run(["--quiet", "--raw", "-o", "decoded", "file.ogg"], in: folder)
            let data = try Files.read("decoded", folder)
            return stride(from: 0, to: data.count - 1, by: 2).map { place in
                Int32(bitPattern: UInt32(data[place]) << 16 | UInt32(data[place + 1]) << 24)
            }
        }
    }

    /// `opusdec`: floating point, rounded to 24 bits as the player does it.
    static func opus(_ bytes: [UInt8]) throws -> [Int32] {
        try withTemporaryFolder { folder in
            try Files.write(bytes, "file.opus", folder)
            try Tool.opusdec.run(["--quiet", "--float", "--rate", "48000", "file.opus", "decoded.wav"], in: folder)
            let data = try Files.read("decoded.wav", folder)
            let marker = Array("data".utf8)
            var start = 12
            while Array(data[start..<(start + 4)]) != marker {
                start += 8 + (0..<4).reduce(0) { $0 | Int(data[start + 4 + $1]) << (8 * $1) }
            }
            return stride(from: start + 8, to: data.count - 3, by: 4).map { place in
                FloatSamples.leftJustified(
                    Float(bitPattern: (0..<4).reduce(0) { $0 | UInt32(data[place + $1]) << UInt32(8 * $1) }))
            }
        }
    }
}

/// A file of Ogg taken apart into pages, which can be changed.
struct OggMap {
    struct Page {
        var bytes: [UInt8]

        private func field(_ place: Int, _ count: Int) -> UInt64 {
            (0..<count).reduce(0) { $0 | UInt64(bytes[place + $1]) << UInt64(8 * $1) }
        }

        private mutating func set(_ value: UInt64, _ place: Int, _ count: Int) {
            for index in 0..<count { bytes[place + index] = UInt8(truncatingIfNeeded: value >> UInt64(8 * index)) }
            for index in OggPage.checksumPlace { bytes[index] = 0 }
            let checksum = bytes.withUnsafeBytes { OggChecksum.of($0) }
            for index in 0..<4 { bytes[22 + index] = UInt8(truncatingIfNeeded: checksum >> UInt32(8 * index)) }
        }

        var flags: UInt8 {
            get { bytes[5] }
            set { set(UInt64(newValue), 5, 1) }
        }
        var granule: Int64 {
            get { Int64(bitPattern: field(6, 8)) }
            set { set(UInt64(bitPattern: newValue), 6, 8) }
        }
        var serial: UInt32 {
            get { UInt32(field(14, 4)) }
            set { set(UInt64(newValue), 14, 4) }
        }
        var sequence: UInt32 {
            get { UInt32(field(18, 4)) }
            set { set(UInt64(newValue), 18, 4) }
        }
        /// The first byte of the body.
        var bodyStart: Int { 27 + Int(bytes[26]) }

        /// Makes the checksum right after a change of `bytes`.
        mutating func seal() { set(UInt64(flags), 5, 1) }

        init(_ bytes: [UInt8]) { self.bytes = bytes }

        /// A page with one packet.
        init(packet: [UInt8], flags: UInt8, granule: Int64 = 0, serial: UInt32 = 7, sequence: UInt32 = 0) {
            var lacing = [UInt8](repeating: 255, count: packet.count / 255)
            lacing.append(UInt8(packet.count % 255))
            bytes =
                Array("OggS".utf8) + [0, flags] + [UInt8](repeating: 0, count: 20) + [UInt8(lacing.count)] + lacing
                + packet
            (self.granule, self.serial, self.sequence) = (granule, serial, sequence)
        }
    }

    var pages: [Page] = []

    init(_ bytes: [UInt8]) {
        var start = 0
        while start + 27 <= bytes.count {
            let segments = Int(bytes[start + 26])
            let body = bytes[(start + 27)..<(start + 27 + segments)].reduce(0) { $0 + Int($1) }
            let end = start + 27 + segments + body
            pages.append(Page(Array(bytes[start..<end])))
            start = end
        }
    }

    var bytes: [UInt8] { pages.flatMap(\.bytes) }
    /// The offset of a page.
    func offset(of page: Int) -> Int { pages[..<page].reduce(0) { $0 + $1.bytes.count } }
    /// The first page with audio.
    var firstAudio: Int { pages.firstIndex { $0.granule > 0 } ?? 0 }
}
