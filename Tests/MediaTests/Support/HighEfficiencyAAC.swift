@testable import Media

/// HE-AAC from AAC-LC: puts spectral band replication (SBR), and with it parametric stereo, into the packets of an
/// elementary stream. The upper band has a level that changes from packet to packet. No encoder in Debian makes HE-AAC.
struct HighEfficiencyAAC {
    var isPair: Bool
    var hasParametricStereo = false

    /// Bands of the envelope at a core of 22,050 Hz with the settings below.
    private static let bandCount = 7

    /// - Parameter stream: ADTS at 22,050 Hz, without fill elements.
    func bytes(_ stream: [UInt8]) -> [UInt8] {
        var output: [UInt8] = []
        var offset = 0
        var number = 0
        while let header = ADTSHeader(stream[offset...]) {
            let packet = Array(stream[(offset + header.headerSize)..<(offset + header.byteCount)])
            let longer = insert(extensionElement(level: UInt32(20 + number % 9)), into: packet)
            var head = Array(stream[offset..<(offset + 7)])
            let size = longer.count + 7
            head[3] = head[3] & 0xFC | UInt8(size >> 11)
            head[4] = UInt8(size >> 3 & 0xFF)
            head[5] = head[5] & 0x1F | UInt8(size & 7) << 5
            output += head + longer
            offset += header.byteCount
            number += 1
        }
        return output
    }

    /// Before the end marker: three set bits, and zeros up to the next byte.
    private func insert(_ element: Bits, into packet: [UInt8]) -> [UInt8] {
        var bits = Bits()
        for byte in packet { bits.add(UInt32(byte), 8) }
        while bits.bits.last == 0 { bits.bits.removeLast() }
        bits.bits.removeLast(3)
        bits.bits += element.bits
        bits.add(7, 3)
        return bits.bytes
    }

    /// A fill element with SBR (ISO/IEC 14496-3, 4.4.2.8).
    private func extensionElement(level: UInt32) -> Bits {
        var data = Bits()
        data.add(13, 4)
        // The header: start 5, stop 6, one band of noise, and the defaults of the limiter.
        for (value, size) in [(1, 1), (0, 1), (5, 4), (6, 4), (0, 3), (0, 2), (1, 1), (0, 1), (2, 2), (1, 1), (0, 2)] {
            data.add(UInt32(value), size)
        }
        let channels = isPair ? 2 : 1
        data.add(0, isPair ? 2 : 1)
        data.add(0, channels * 5)  // One envelope in each packet.
        data.add(0, channels * 2)  // Coded along the frequencies.
        data.add(0, channels * 2)  // Without inverse filtering.
        for _ in 0..<channels {
            data.add(level, 7)
            data.add(0, 2 * (Self.bandCount - 1))
        }
        for _ in 0..<channels { data.add(20, 5) }
        data.add(0, channels)
        data.add(hasParametricStereo ? 1 : 0, 1)
        if hasParametricStereo {
            var stereo = Bits()
            for (value, size) in [(2, 2), (1, 1), (1, 1), (0, 3), (0, 1), (0, 1), (0, 1), (1, 2), (0, 11)] {
                stereo.add(UInt32(value), size)
            }
            data.add(UInt32(stereo.bytes.count), 4)
            data.bits += stereo.padded
        }
        var element = Bits()
        element.add(6, 3)
        let size = data.bytes.count
        element.add(UInt32(min(size, 15)), 4)
        if size >= 15 { element.add(UInt32(size - 14), 8) }
        element.bits += data.padded
        return element
    }

    private struct Bits {
        var bits: [UInt8] = []

        mutating func add(_ value: UInt32, _ count: Int) {
            for place in stride(from: count - 1, through: 0, by: -1) { bits.append(UInt8(value >> UInt32(place) & 1)) }
        }

        var padded: [UInt8] { bits + [UInt8](repeating: 0, count: (8 - bits.count % 8) % 8) }

        var bytes: [UInt8] {
            stride(from: 0, to: padded.count, by: 8).map { place in
                padded[place..<(place + 8)].reduce(0) { $0 << 1 | $1 }
            }
        }
    }
}
