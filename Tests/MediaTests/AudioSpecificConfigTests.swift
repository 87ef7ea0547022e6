import Testing

@testable import Media

@Suite("The configuration of AAC in MP4 (ISO/IEC 14496-3, 1.6.2.1)")
struct AudioSpecificConfigTests {
    @Test("The core, SBR and parametric stereo, as they are said")
    func values() throws {
        let cases: [([UInt8], core: Int, extended: Int?, channels: Int, sbr: Bool?, stereo: Bool?)] = [
            ([0x12, 0x10], 44_100, nil, 2, nil, false),
            ([0x13, 0x88], 22_050, nil, 1, nil, nil),
            // The extension in the hierarchy, and after the core.
            ([0x2B, 0x92, 0x08, 0x00], 22_050, 44_100, 2, true, false),
            ([0x2B, 0x8A, 0x08, 0x00], 22_050, 44_100, 1, true, nil),
            ([0xEB, 0x8A, 0x08, 0x00], 22_050, 44_100, 1, true, true),
            ([0x13, 0x90, 0x56, 0xE5, 0xA0], 22_050, 44_100, 2, true, false),
            ([0x13, 0x88, 0x56, 0xE5, 0xA5, 0x48, 0x80], 22_050, 44_100, 1, true, true),
            ([0x13, 0x88, 0x56, 0xE5, 0xA5, 0x48, 0x00], 22_050, 44_100, 1, true, false),
            ([0x12, 0x08, 0x56, 0xE5, 0x00], 44_100, nil, 1, false, false),
            // A rate in 24 bits.
            ([0x17, 0x80, 0x56, 0x22, 0x10], 44_100, nil, 2, nil, false),
        ]
        for (bytes, core, extended, channels, sbr, stereo) in cases {
            let config = try AudioSpecificConfig(bytes)
            #expect(config.coreSampleRate == core && config.extendedSampleRate == extended, "\(bytes)")
            #expect(config.channelCount == channels, "\(bytes)")
            #expect(config.hasSBR == sbr && config.hasParametricStereo == stereo, "\(bytes)")
        }
    }

    @Test("Channels in a program configuration")
    func programConfiguration() throws {
        var writer = BitWriter()
        // Type 2, 48 kHz, no configuration; then one front channel, a pair, a back pair, and low frequencies.
        for (value, size) in [(2, 5), (3, 4), (0, 4), (0, 3)] { writer.append(UInt32(value), size) }
        for (value, size) in [(0, 4), (1, 2), (3, 4), (2, 4), (0, 4), (1, 4), (1, 2), (0, 3), (0, 4), (0, 3)] {
            writer.append(UInt32(value), size)
        }
        for (value, size) in [(0, 5), (0x10, 5), (0x11, 5), (0, 4)] { writer.append(UInt32(value), size) }
        let config = try AudioSpecificConfig(writer.bytes + [3, 1, 2, 3])
        #expect(config.channelCount == 6 && config.coreSampleRate == 48_000)
        #expect(throws: Interruption.self) { try AudioSpecificConfig(writer.bytes + [3, 1, 2]) }
    }

    @Test("SBR is added as the decoder reads it")
    func withSBR() throws {
        for bytes in [[0x13, 0x90], [0x12, 0x08, 0x56, 0xE5, 0x00], [0x2B, 0x92, 0x08, 0x00]] as [[UInt8]] {
            let config = try AudioSpecificConfig(bytes)
            let other = try AudioSpecificConfig(config.withSBR)
            #expect(other.hasSBR == true && other.extendedSampleRate == 2 * config.coreSampleRate)
            #expect(other.coreSampleRate == config.coreSampleRate && other.channelCount == config.channelCount)
        }
    }

    @Test("Flags with and without the fields that belong to them, cut at every byte: the core is the same")
    func flags() throws {
        for (needsCore, isExtended) in [(true, false), (false, true), (true, true)] {
            for (hasDelay, hasProgram) in [(false, false), (false, true), (needsCore, false), (needsCore, true)] {
                var writer = BitWriter()
                for (value, size) in [(2, 5), (4, 4), (hasProgram ? 0 : 2, 4), (0, 1)] {
                    writer.append(UInt32(value), size)
                }
                writer.append(needsCore ? 1 : 0, 1)
                if hasDelay { writer.append(0x155, 14) }
                writer.append(isExtended ? 1 : 0, 1)
                if hasProgram {
                    // One pair in front.
                    for (value, size) in [(0, 4), (1, 2), (4, 4), (1, 4), (0, 4), (0, 4), (0, 2), (0, 3), (0, 4)] {
                        writer.append(UInt32(value), size)
                    }
                    for (value, size) in [(0, 3), (0x10, 5)] { writer.append(UInt32(value), size) }
                    writer.alignToByte()
                    writer.append(0, 8)
                }
                if isExtended { writer.append(0, 1) }
                let least = (writer.bitCount + 7) / 8
                for (value, size) in [(0x2B7, 11), (5, 5), (1, 1), (4, 4)] { writer.append(UInt32(value), size) }
                let place: Comment = "\(needsCore), \(isExtended), \(hasDelay), \(hasProgram)"
                for count in 0...writer.bytes.count {
                    let bytes = Array(writer.bytes.prefix(count))
                    guard let config = try? AudioSpecificConfig(bytes) else {
                        #expect(count < (hasProgram ? least : 2), place)
                        continue
                    }
                    #expect(config.coreSampleRate == 44_100 && config.channelCount == 2, place)
                    if count == writer.bytes.count { #expect(config.hasSBR == true, place) }
                    // The bytes for libfaad2 have no flags and the same meaning.
                    let plain = try AudioSpecificConfig(config.bytes)
                    #expect(plain.bytes == config.bytes && plain.hasSBR == config.hasSBR, place)
                    #expect(plain.channelCount == 2 && plain.extendedSampleRate == config.extendedSampleRate, place)
                    #expect(config.bytes[1] & 7 == 0, place)
                }
            }
        }
    }

    @Test("Other types of audio are refused by name")
    func unsupported() {
        let cases: [([UInt8], String)] = [
            ([0x0A, 0x10], "AAC Main"), ([0x1A, 0x10], "AAC SSR"), ([0x22, 0x10], "AAC LTP"),
            ([0xBA, 0x10, 0], "AAC-LD"), ([0xF8, 0xE8, 0x20, 0], "AAC-ELD"), ([0xF9, 0x48, 0x20, 0], "xHE-AAC"),
            ([0x12, 0x14], "AAC with 960 frames a packet"), ([0x12, 0x70], "AAC with channels at the ceiling"),
            ([0x12, 0x20], "AAC with three channels in front and one behind"),
            ([0x12, 0x50], "AAC with the channel configuration 10"),
        ]
        for (bytes, what) in cases {
            #expect(throws: Interruption.unsupported(what: what)) { try AudioSpecificConfig(bytes) }
        }
    }

    @Test("A configuration that is cut off is refused at every length")
    func cutOff() throws {
        for bytes in [[0x12, 0x10], [0x2B, 0x92, 0x08, 0x00], [0x17, 0x80, 0x56, 0x22, 0x10]] as [[UInt8]] {
            for count in 0..<bytes.count - 1 {
                #expect(throws: Interruption.self) { try AudioSpecificConfig(Array(bytes.prefix(count))) }
            }
        }
    }
}
