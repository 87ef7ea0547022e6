import PCM

@testable import Media

/// An encoder of ALAC for the ways of coding that ffmpeg's encoder does not use. The tests prove its files with
/// ffmpeg's decoder.
struct ALACWriter {
    var frameCount = 4096
    var order = 6
    var fractionBits = 9
    /// Whether the residuals are predicted once more.
    var isTwice = false
    /// Low bits that are stored apart: 0, 8 or 16.
    var shiftedBits = 0
    var isVerbatim = false
    var mixBits = 2
    var mixWeight = 1
    /// Elements without sound before each one with sound.
    var hasOtherElements = false
    var firstMean = 10
    var meanFactor = 40
    var mostBits = 14

    static func cookie(
        _ format: PCMFormat, frames: Int = 4096, version: Int = 0, meanFactor: Int = 40, firstMean: Int = 10,
        mostBits: Int = 14
    ) -> [UInt8] {
        let head =
            Boxes.big(frames, 4) + [
                UInt8(version), UInt8(format.bitDepth), UInt8(meanFactor), UInt8(firstMean), UInt8(mostBits),
                UInt8(format.channelCount),
            ]
        return head + Boxes.big(255, 2) + Boxes.big(0, 8) + Boxes.big(format.sampleRate, 4)
    }

    func entry(_ format: PCMFormat) -> [UInt8] {
        let cookie = Self.cookie(
            format, frames: frameCount, meanFactor: meanFactor, firstMean: firstMean, mostBits: mostBits)
        return HandmadeMP4.audioEntry(
            "alac", channels: format.channelCount, rate: format.sampleRate & 0xFFFF, Boxes.full("alac", cookie))
    }

    /// The signal of one channel or two in MP4.
    func file(_ signal: Signal) -> HandmadeMP4 {
        let starts = Array(stride(from: 0, to: signal.frameCount, by: frameCount))
        let ranges = starts.map { $0..<min($0 + frameCount, signal.frameCount) }
        return HandmadeMP4(
            entry(signal.format), packets: ranges.map { packet(signal.slice($0), signal.format) },
            durations: ranges.map(\.count), timescale: signal.format.sampleRate)
    }

    /// One element, and the end.
    func packet(_ samples: [Int32], _ format: PCMFormat) -> [UInt8] {
        var bits = ALACBitWriter()
        let channels = format.channelCount
        if hasOtherElements {
            bits.write(4, 3)
            bits.write(0, 4)
            bits.write(1, 1)
            bits.write(3, 8)
            bits.align()
            for byte in [1, 2, 3] { bits.write(byte, 8) }
            bits.write(6, 3)
            bits.write(15, 4)
            bits.write(2, 8)
            bits.write(0, 8 * 16)
        }
        bits.write(channels - 1, 3)
        bits.write(0, 4 + 12)
        let count = samples.count / channels
        bits.write(count < frameCount ? 1 : 0, 1)
        bits.write(isVerbatim ? 0 : shiftedBits / 8, 2)
        bits.write(isVerbatim ? 1 : 0, 1)
        if count < frameCount { bits.write(count, 32) }
        let values = samples.map { $0 >> Int32(32 - format.bitDepth) }
        if isVerbatim {
            for value in values { bits.write(Int(value), format.bitDepth) }
        } else {
            writeCompressed(values, channels, format.bitDepth - shiftedBits + channels - 1, &bits)
        }
        bits.write(7, 3)
        bits.align()
        return bits.bytes
    }

    private func writeCompressed(_ values: [Int32], _ channels: Int, _ width: Int, _ bits: inout ALACBitWriter) {
        var planes = (0..<channels).map { channel in
            stride(from: channel, to: values.count, by: channels).map { values[$0] >> Int32(shiftedBits) }
        }
        if channels == 2, mixWeight != 0 {
            for index in planes[0].indices {
                let right: Int = Int(planes[1][index])
                let difference: Int = Int(planes[0][index]) - right
                planes[0][index] = Int32(right + (mixWeight * difference) >> mixBits)
                planes[1][index] = Int32(difference)
            }
        }
        bits.write(mixBits, 8)
        bits.write(mixWeight, 8)
        let coefficients: [Int32] = (0..<order).map { number in
            let first: Int = number == 0 ? 700 : -300
            return Int32(number < 2 ? first : 20 - number)
        }
        for _ in 0..<channels {
            bits.write(isTwice ? 15 : 0, 4)
            bits.write(fractionBits, 4)
            bits.write(4, 3)
            bits.write(order, 5)
            for coefficient in coefficients { bits.write(Int(coefficient), 16) }
        }
        if shiftedBits > 0 {
            for value in values { bits.write(Int(value), shiftedBits) }
        }
        for plane in planes {
            var residuals = residuals(plane, coefficients, width)
            if isTwice {
                for index in residuals.indices.reversed() where index > 0 {
                    residuals[index] = Self.cut(residuals[index] &- residuals[index - 1], width)
                }
            }
            writeCodes(residuals, width, &bits)
        }
    }

    private static func cut(_ value: Int32, _ width: Int) -> Int32 {
        (value << Int32(32 - width)) >> Int32(32 - width)
    }

    private func residuals(_ samples: [Int32], _ first: [Int32], _ width: Int) -> [Int32] {
        var coefficients = first
        let half: Int32 = fractionBits > 0 ? 1 << Int32(fractionBits - 1) : 0
        return samples.indices.map { index in
            if index == 0 || order == 0 { return samples[index] }
            if index <= order || order == 31 { return Self.cut(samples[index] &- samples[index - 1], width) }
            let base = samples[index - order - 1]
            let sum = coefficients.indices.reduce(half) {
                $0 &+ coefficients[$1] &* (samples[index - 1 - $1] &- base)
            }
            let residual = Self.cut(samples[index] &- base &- sum >> Int32(fractionBits), width)
            var rest = residual
            for number in coefficients.indices.reversed() where residual > 0 ? rest > 0 : rest < 0 {
                let distance = base &- samples[index - 1 - number]
                let direction = distance.signum() * residual.signum()
                coefficients[number] -= direction
                rest = rest &- Int32(order - number) &* ((direction &* distance) >> Int32(fractionBits))
            }
            return residual
        }
    }

    private func writeCodes(_ residuals: [Int32], _ width: Int, _ bits: inout ALACBitWriter) {
        var mean = firstMean
        var offset = 0
        var index = 0
        while index < residuals.count {
            let residual = Int(residuals[index])
            let number = residual < 0 ? -2 * residual - 1 : 2 * residual
            let size: Int = min(63 - ((mean >> 9) + 3).leadingZeroBitCount, mostBits)
            Self.writeCode(number - offset, size, 1 << size - 1, width, &bits)
            index += 1
            mean =
                number - offset > 0xFFFF
                ? 0xFFFF : (meanFactor * number + mean - (meanFactor * mean & 0xFFFF_FFFF) >> 9) & 0xFFFF_FFFF
            offset = 0
            guard mean < 128, index < residuals.count else { continue }
            let run = min(residuals[index...].prefix { $0 == 0 }.count, 65_535)
            let runSize = UInt32(mean).leadingZeroBitCount - 24 + (mean + 16) >> 6
            Self.writeCode(run, runSize, (1 << runSize - 1) & (1 << mostBits - 1), 16, &bits)
            index += run
            offset = run < 65_535 ? 1 : 0
            mean = 0
        }
    }

    private static func writeCode(_ value: Int, _ size: Int, _ factor: Int, _ width: Int, _ bits: inout ALACBitWriter) {
        let ones = value / factor
        guard ones < 9 else {
            bits.write(-1, 9)
            return bits.write(value, width)
        }
        bits.write(-2, ones + 1)
        let rest = value % factor
        if rest == 0 { bits.write(0, size - 1) } else { bits.write(rest + 1, size) }
    }
}

/// Writes bits, the highest one first.
struct ALACBitWriter {
    private(set) var bytes: [UInt8] = []
    private var used = 0

    mutating func write(_ value: Int, _ count: Int) {
        for bit in (0..<count).reversed() {
            if used == 0 { bytes.append(0) }
            if bit < 64, value >> bit & 1 == 1 { bytes[bytes.count - 1] |= 0x80 >> UInt8(used) }
            used = (used + 1) & 7
        }
    }

    mutating func align() { used = 0 }
}
