import Foundation
import Platform
import Testing

@testable import Board

/// `board/dacs`, with what HATs answer in it (the makers' own detection scripts).
@Suite("The DACs in board/dacs")
struct ShippedDACsTests {
    static func table() throws -> DACTable { try DACTable(path: "\(ShippedProfileTests.folder)/dacs") }

    static let pcm512xAt4d: [Int: UInt8] = [0x4d28: 0x02, 0x4d23: 0x01, 0x4d2a: 0x11]
    static let pcm512xAt4c: [Int: UInt8] = [0x4c28: 0x02, 0x4c23: 0x01, 0x4c2a: 0x11]

    @Test(
        "are found by their EEPROMs and registers",
        arguments: [
            ("Raspberry Pi DAC Plus", [:], "iqaudio-dacplus"),
            ("JustBoom DAC HAT", [:], "justboom-dac"),
            ("JustBoom DAC HAT v1.1", [:], "justboom-dac"),
            ("JustBoom Digi HAT", [:], "justboom-digi"),
            ("HiFiBerry DAC+", pcm512xAt4d, "hifiberry-dacplus-std"),
            ("Amp100", pcm512xAt4d, "hifiberry-amp100"),
            ("Amp3", [0x2000: 0], "hifiberry-amp3"),
            ("Amp4", pcm512xAt4d, "hifiberry-dacplus-std"),
            ("Amp4 Pro", pcm512xAt4d, "hifiberry-amp4pro"),
            ("DAC+ ADC", pcm512xAt4d, "hifiberry-dacplusadcpro"),
            ("DAC2 Pro", pcm512xAt4d, "hifiberry-dacplus-pro"),
            ("DAC 2 HD", pcm512xAt4c, "hifiberry-dacplushd"),
            ("Digi2 Pro", [:], "hifiberry-digi-pro"),
            ("DAC8x", [:], "hifiberry-dac8x"),
            ("DAC+ DSP", [:], "hifiberry-dacplusdsp"),
            (nil, [0x3b01: 0x88, 0x3b00: 0x05], "hifiberry-digi"),
            (nil, pcm512xAt4d.merging([0x4a19: 0x07]) { $1 }, "hifiberry-dacplusadcpro"),
            (nil, pcm512xAt4c.merging([0x6211: 0x8c]) { $1 }, "hifiberry-dacplushd"),
            (nil, pcm512xAt4c.merging(pcm512xAt4d) { $1 }, "allo-piano-dac-plus-pcm512x-audio"),
            (nil, pcm512xAt4d, "hifiberry-dacplus-std"),
            (nil, pcm512xAt4c, "iqaudio-dacplus"),
            (nil, [0x1b00: 0x6c], "hifiberry-amp"),
            (nil, [0x6002: 0x03], "hifiberry-dacplusdsp"),
            (nil, [0x1a00: 0x00], nil),
            ("An unknown HAT", [:], nil),
            (nil, [:], nil),
        ] as [(String?, [Int: UInt8], String?)])
    func found(product: String?, registers: [Int: UInt8], expected: String?) throws {
        let identity = product.map { HATIdentity(identifier: nil, product: $0) }
        let found = try Self.table().find(identity) { registers[Int($0) << 8 | Int($1)] }
        #expect(found?.dac.name == expected)
    }

    @Test(
        "are found by the UUIDs that Raspberry Pi OS knows",
        arguments: [
            ("5eb863b8-12f9-41ad-978f-4cee1b3eca62", "hifiberry-amp100"),
            ("81cac43d-27c6-4a1e-a0b2-c70b4e608ab6", "hifiberry-dacplus-std"),
            ("EBF9CFC4-6D77-4880-89FD-353690467DFC", "hifiberry-dacplus-pro"),
            ("e15c739c-877d-4e29-ab36-4dc73c21127c", "rpi-codeczero"),
        ])
    func identified(identifier: String, expected: String) throws {
        let found = try Self.table().find(HATIdentity(identifier: identifier, product: nil)) { _, _ in nil }
        #expect(found?.dac.name == expected && found?.evidence == .identifier)
    }

    @Test("never clip: the volume of a chip that amplifies ends at 0 dB")
    func maximum() throws {
        for dac in try Self.table().dacs {
            guard case .supported(let parts) = dac.support, let mixer = parts.sound.mixer else { continue }
            guard ["DAC", "Digital", "Master"].contains(mixer) else { continue }
            #expect(parts.sound.mixerRange?.upperBound == 0, "\(dac.name)")
        }
    }

    @Test("leave the buttons and lights of any-hat alone; two HATs with buttons of their own share lines, not sound")
    func wiring() throws {
        let profile = try ShippedProfileTests().profile("any-hat")
        let shared = ["phat-beat", "pirate-audio", "wm8960-soundcard"]
        for dac in try Self.table().dacs where !shared.contains(dac.name) {
            #expect(profile.fitted(with: dac).mistakes == [], "\(dac.name)")
        }
    }

    @Test(
        "mute and enable by the levels that their makers name",
        arguments: [
            ("hifiberry-dacplus-std", 4, ActiveLevel.low, BoardAmplifier.Role.mute),
            ("hifiberry-amp100", 4, .high, .mute), ("hifiberry-amp4pro", 4, .low, .mute),
            ("rpi-digiampplus", 22, .high, .enable), ("allo-boss-dac-pcm512x-audio", 6, .low, .mute),
        ])
    func amplifier(name: String, line: Int, active: ActiveLevel, role: BoardAmplifier.Role) throws {
        guard case .supported(let parts) = try Self.table().dac(named: name).support else {
            Issue.record("\(name) is not supported")
            return
        }
        #expect(parts.amplifier?.line.line == .offset(line))
        #expect(parts.amplifier?.active == active && parts.amplifier?.role == role)
    }
}
