import Foundation
import PCM
import Testing

@testable import Media

@Suite("DSD: DSF and DFF")
struct DSDTests {
    static let title: [UInt8] = {
        let title = Array("TIT2".utf8) + [0, 0, 0, 3, 0, 0, 0, 0x61, 0x62]
        return Array("ID3".utf8) + [3, 0, 0, 0, 0, 0, UInt8(title.count)] + title
    }()

    /// The taps with the bits around a frame's middle, by the definition. Beyond the ends the bits are mirrored.
    private static func frame(_ number: Int, of bytes: [UInt8], _ taps: [Double]) -> Double {
        var sum = 0.0
        for (index, tap) in taps.enumerated() {
            var bit = 32 * number + index - taps.count / 2
            if bit < 0 { bit = -1 - bit }
            if bit >= 8 * bytes.count { bit = 16 * bytes.count - 1 - bit }
            sum += bytes[bit / 8] & 0x80 >> UInt8(bit % 8) != 0 ? tap : -tap
        }
        return sum
    }

    @Test("The filter is flat below 20 kHz, and far down where frequencies fold below 20 kHz")
    func response() {
        let taps = DSDFilter.taps()
        let middle = taps.count / 2
        #expect(taps.count == 480 && taps[0] == 0)
        #expect((1..<middle).allSatisfy { taps[middle - $0] == taps[middle + $0] })
        #expect(abs(taps.reduce(0, +) - 1) < 1e-12)
        /// The gain in dB, for DSD64.
        func gain(_ frequency: Double) -> Double {
            let angle = 2 * Double.pi * frequency / 2_822_400
            // Symmetric: no imaginary part.
            var sum = taps[middle]
            for index in 1..<middle { sum += 2 * taps[middle + index] * cos(angle * Double(index)) }
            return 20 * log10(max(abs(sum), 1e-12))
        }
        for frequency in stride(from: 0.0, through: 20_000, by: 250) { #expect(abs(gain(frequency)) < 0.001) }
        #expect(abs(gain(30_000)) < 0.2)
        for image in 1...16 {
            for offset in stride(from: -20_000.0, through: 20_000, by: 500) {
                let frequency = 88_200 * Double(image) + offset
                if frequency <= 1_411_200 { #expect(gain(frequency) < -123, "\(frequency) Hz") }
            }
        }
        for frequency in stride(from: 68_200.0, through: 1_411_200, by: 1777) { #expect(gain(frequency) < -123) }
    }

    @Test("Every frame is what the definition says, in every layout", arguments: [1, 2, 3, 6])
    func definition(channels: Int) throws {
        let taps = DSDFilter.taps()
        for byteCount in [4102, 4096, 401, 70, 31] {
            let signal = DSDSignal(randomBytes: byteCount, channels: channels)
            let frames = (byteCount + 3) / 4
            var expected: [Int32] = []
            for frame in 0..<frames {
                for channel in signal.channels {
                    // 6 dB of gain.
                    let value = (Self.frame(frame, of: channel, taps) * 2 * 8_388_608).rounded()
                    expected.append(Int32(max(-8_388_608, min(8_388_607, value))) << 8)
                }
            }
            let file = signal.dsf()
            let samples = try decode(file).decoded.samples
            #expect(samples.count == expected.count)
            let largest = zip(samples, expected).map { abs(Int64($0) - Int64($1)) }.max() ?? 0
            #expect(largest <= 256, "\(byteCount) bytes: off by \(largest)")
            for other in [signal.dsf(isLowestFirst: false), signal.dff()] {
                #expect(try difference(decode(other).decoded.samples, samples) == nil)
            }
            let decoder = try AudioFile.open(MemorySource(file))
            #expect(decoder.properties.frameCount == Int64(frames))
            #expect(
                decoder.properties.format == PCMFormat(sampleRate: 88_200, channelCount: channels, bitDepth: 24))
            #expect(decoder.properties.container == .dsf && decoder.properties.codec == .dsd)
            #expect(decoder.properties.bitRate == 2_822_400 * channels)
        }
    }

    @Test("Every seek gives what the whole decode gives", arguments: [false, true])
    func seeks(isDFF: Bool) throws {
        let signal = DSDSignal(randomBytes: 20_003, channels: 2)
        let bytes = isDFF ? signal.dff() : signal.dsf()
        for knowsLength in [true, false] {
            let decoder = try AudioFile.open(MemorySource(bytes, knowsLength: knowsLength))
            #expect(decoder.properties.frameCount == 5001)
            let whole = decoder.decodeAll().samples
            #expect(whole.count == 2 * 5001)
            for frame in [0, 1, 6, 7, 8, 9, 1023, 1024, 1030, 1032, 2500, 4990, 4993, 4999, 5000, 5001, 80_000, 3, 0] {
                try decoder.seek(toFrame: Int64(frame))
                let expected = Array(whole[min(2 * frame, whole.count)...].prefix(2400))
                #expect(try difference(decoder.decode(frames: 1200), expected) == nil, "frame \(frame)")
            }
            try decoder.seek(toFrame: .max)
            #expect(try decoder.decode(frames: 1).isEmpty && decoder.damage.isEmpty)
        }
    }

    @Test("At every k-th read, and in small pieces: the same samples and seeks", arguments: [2, 5])
    func notYet(k: Int) throws {
        let signal = DSDSignal(randomBytes: 12_003, channels: 3)
        for bytes in [signal.dsf(tag: Self.title), signal.dff(tag: Self.title)] {
            let samples = try decode(bytes).decoded.samples
            for largestRead in [Int.max, 700] {
                let source = MemorySource(bytes)
                source.notYetEvery = k
                source.largestRead = largestRead
                let decoder = try AudioFile.open(source)
                #expect(difference(decoder.decodeAll().samples, samples) == nil)
                for frame in [2900, 3, 1500] {
                    try decoder.seek(toFrame: Int64(frame))
                    let expected = Array(samples[(3 * frame)...].prefix(600))
                    #expect(try difference(decoder.decode(frames: 200), expected) == nil)
                }
                #expect(source.notYetCount > 0 && decoder.damage.isEmpty)
            }
        }
    }

    /// For a tone of amplitude `a`, a modulator of the second order has `20 lg a - 11.1 + 50 lg (rate / 40 kHz)` dB
    /// above its noise up to 20 kHz. Its noise is white before it is differenced twice. Tones in the noise cost a
    /// little more.
    @Test(
        "A tone is as clean as its modulator can say it",
        arguments: [(2_822_400, 70.0), (5_644_800, 85.0), (11_289_600, 98.0), (3_072_000, 72.0)])
    func tone(rate: Int, leastRatio: Double) throws {
        let frequency = 3217.0
        let signal = DSDSignal(rate: rate, byteCount: 20_000, tones: [(frequency, 0.4)])
        let decoder = try AudioFile.open(MemorySource(signal.dsf()))
        #expect(decoder.properties.format.sampleRate == rate / 32)
        let samples = decoder.decodeAll().samples.map { Double($0) / 2_147_483_648 }
        let count = 2048
        let start = (samples.count - count) / 2
        let outputRate = Double(rate) / 32
        func window(_ index: Int) -> Double { 0.5 - 0.5 * cos(2 * .pi * Double(index) / Double(count)) }
        // With 6 dB of gain, one bit later, and no other difference.
        var error: [Double] = []
        var (sum, parts) = (0.0, 0.0)
        for index in 0..<count {
            let time = Double(start + index) / outputRate - 1 / Double(rate)
            let expected = 0.8 * sin(2 * .pi * frequency * time)
            error.append((samples[start + index] - expected) * window(index))
            parts += expected * expected * window(index) * window(index)
        }
        // Both sides of the spectrum up to 20 kHz.
        let last = Int(20_000 / outputRate * Double(count))
        for bin in 0...last {
            let step = 2 * Double.pi * Double(bin) / Double(count)
            var (real, imaginary) = (0.0, 0.0)
            for index in 0..<count {
                real += error[index] * cos(step * Double(index))
                imaginary += error[index] * sin(step * Double(index))
            }
            sum += (bin == 0 ? 1 : 2) * (real * real + imaginary * imaginary) / Double(count)
        }
        let ratio = 10 * log10(parts / sum)
        #expect(ratio > leastRatio, "\(ratio) dB")
    }

    @Test("Bits, channels and lengths are those of ffmpeg", Tool.needsFFmpeg, arguments: [1, 2, 6])
    func ffmpeg(channels: Int) throws {
        let tones = (0..<channels).map { (frequency: 400 + 300 * Double($0), amplitude: 0.3) }
        let signal = DSDSignal(byteCount: 12_288, tones: tones)
        for (name, file) in [("file.dsf", signal.dsf()), ("file.dff", signal.dff())] {
            let data = try withTemporaryFolder { folder in
                try Files.write(file, name, folder)
                try Tool.ffmpeg.run(
                    ["-loglevel", "error", "-i", name, "-c:a", "pcm_f32le", "-f", "f32le", "decoded"], in: folder)
                return try Files.read("decoded", folder)
            }
            let reference = stride(from: 0, to: data.count - 3, by: 4).map { place in
                Double(Float(bitPattern: (0..<4).reduce(0) { $0 | UInt32(data[place + $1]) << UInt32(8 * $1) }))
            }
            // ffmpeg decimates by 8, without gain.
            #expect(reference.count == 12_288 * channels)
            let samples = try decode(file).decoded.samples
            #expect(samples.count == 3072 * channels)
            for channel in 0..<channels {
                for (number, tone) in tones.enumerated() {
                    // Whole periods of each tone.
                    let found = Self.amplitude(
                        of: tone.frequency,
                        in: (0..<2646).map { frame in
                            Double(samples[(frame + 100) * channels + channel]) / 2_147_483_648
                        }, rate: 88_200)
                    let expected = Self.amplitude(
                        of: tone.frequency, in: (0..<10_584).map { reference[($0 + 400) * channels + channel] },
                        rate: 352_800)
                    #expect(abs(found.size - 2 * expected.size) < 0.002, "\(name): channel \(channel), tone \(number)")
                    #expect(number != channel || abs(found.size - 0.6) < 0.01)
                    // Its filter is later, by 20 microseconds or so.
                    let delay = (found.phase - expected.phase) / (2 * .pi * tone.frequency)
                    #expect(number != channel || abs(delay) < 0.000_05, "\(name): \(delay) s")
                }
            }
        }
    }

    private static func amplitude(
        of frequency: Double, in samples: [Double], rate: Double
    ) -> (size: Double, phase: Double) {
        var (sine, cosine) = (0.0, 0.0)
        for (index, sample) in samples.enumerated() {
            let angle = 2 * Double.pi * frequency * Double(index) / rate
            sine += sample * sin(angle)
            cosine += sample * cos(angle)
        }
        let count = Double(samples.count) / 2
        return ((sine * sine + cosine * cosine).squareRoot() / count, atan2(cosine, sine))
    }

    @Test("An album cut in two is as long as in one, and differs in eight frames on each side of the cut alone")
    func gapless() throws {
        let signal = DSDSignal(byteCount: 40_000, tones: [(1000, 0.4), (300, 0.3)])
        let whole = try decode(signal.dsf()).decoded.samples
        let cut = 20_004
        let joined =
            try decode(signal.slice(0..<cut).dsf()).decoded.samples
            + decode(signal.slice(cut..<40_000).dsf()).decoded.samples
        #expect(joined.count == whole.count)
        let differences = zip(joined, whole).map { abs(Double($0) - Double($1)) / 2_147_483_648 }
        let around = (2 * (cut / 4 - 8))..<(2 * (cut / 4 + 8))
        #expect(differences[..<around.lowerBound].allSatisfy { $0 == 0 })
        #expect(differences[around.upperBound...].allSatisfy { $0 == 0 })
        // The bits' noise is shaped across the cut, and the filter sees one side of it. With silence it would be twice
        // as much.
        #expect(differences[around].max() ?? 0 < 0.2)
    }

    @Test("Louder than 0 dB of SACD is clipped")
    func clipping() throws {
        let signal = DSDSignal(rate: 2_822_400, channels: [[UInt8](repeating: 0xFF, count: 1000)])
        #expect(try decode(signal.dsf()).decoded.samples.allSatisfy { $0 == 0x7FFF_FF00 })
        let low = DSDSignal(rate: 2_822_400, channels: [[UInt8](repeating: 0, count: 1000)])
        #expect(try decode(low.dff()).decoded.samples.allSatisfy { $0 == .min })
        let idle = DSDSignal(rate: 2_822_400, channels: [[UInt8](repeating: 0x69, count: 1000)])
        // The signal is silent except where it meets its mirrored bits.
        #expect(try decode(idle.dff()).decoded.samples[8..<240].allSatisfy { abs($0) < 1 << 12 })
    }

    @Test("Tags of both")
    func tags() throws {
        let signal = DSDSignal(randomBytes: 5000, channels: 2)
        for file in [signal.dsf(tag: Self.title), signal.dff(tag: Self.title), Self.title + signal.dsf()] {
            let decoder = try AudioFile.open(MemorySource(file))
            #expect(decoder.metadata.title == "ab" && decoder.properties.frameCount == 1250)
        }
    }

    @Test("A file that is cut plays to the cut, and says so")
    func cut() throws {
        let signal = DSDSignal(randomBytes: 30_000, channels: 2)
        let whole = try decode(signal.dsf()).decoded.samples
        for (file, frames) in [
            (Array(signal.dsf().prefix(40_000)), 4 * 1024), (Array(signal.dff().prefix(40_000)), 4 * 1024),
        ] {
            for knowsLength in [true, false] {
                let decoder = try AudioFile.open(MemorySource(file, knowsLength: knowsLength))
                let samples = decoder.decodeAll().samples
                #expect(samples.count >= 2 * frames && decoder.damage.truncated)
                // The last frames see the mirrored bits.
                let count = samples.count - 16
                #expect(difference(Array(samples[..<count]), Array(whole[..<count])) == nil)
            }
        }
    }

    @Test("Formats that are not decoded are refused by name")
    func refusals() {
        let signal = DSDSignal(randomBytes: 500, channels: 2)
        func error(_ bytes: [UInt8]) -> MediaError? {
            do throws(MediaError) { _ = try AudioFile.open(MemorySource(bytes)) } catch { return error }
            return nil
        }
        #expect(error(signal.dff(compression: "DST ", dataName: "DST ")) == .unsupported(what: "DFF with DST"))
        #expect(error(signal.dff(dataName: "DST ")) == .unsupported(what: "DFF with DST"))
        #expect(error(signal.dff(dataName: "XXXX")) == .damaged(what: "DFF without sound data"))
        let slow = DSDSignal(rate: 44_100, channels: signal.channels)
        #expect(error(slow.dsf()) == .unsupported(what: "DSF with a sample rate of 44100 Hz"))
        #expect(error(slow.dff()) == .unsupported(what: "DFF with a sample rate of 44100 Hz"))
        #expect(
            error(signal.dsf(blockSize: 512)) == .unsupported(what: "DSF with another coding than blocks of DSD"))
        let many = DSDSignal(randomBytes: 500, channels: 9)
        #expect(error(many.dsf()) == .unsupported(what: "DSF with 9 channels"))
        #expect(error(Array(signal.dsf().prefix(60))) == .damaged(what: "DSF without its header"))
        #expect(error(Array(signal.dff().prefix(60))) == .damaged(what: "DFF without its properties"))
    }
}
