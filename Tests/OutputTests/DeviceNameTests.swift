import Foundation
import PCM
import Testing

@testable import Output

@Suite("Names of cards and devices")
struct DeviceNameTests {
    @Test(
        "the card that a PCM name speaks of",
        arguments: [
            ("hw:CARD=DAC,DEV=0", "DAC"),
            ("hw:DEV=0,CARD=DAC", "DAC"),
            ("hw:0,0", "0"),
            ("hw:sndrpihifiberry", "sndrpihifiberry"),
            ("hw:SUBDEV=0,CARD=vc4hdmi", "vc4hdmi"),
            ("default", nil),
            ("hw", nil),
            ("hw:", nil),
            ("hw:CARD=", nil),
            ("file:FILE=/tmp/x.wav,FORMAT=wav", nil),
            ("null", nil),
        ] as [(String, String?)])
    func cardReference(name: String, expected: String?) {
        #expect(DeviceName.cardReference(of: name) == expected)
    }

    @Test("names are made of the card's id")
    func names() {
        #expect(DeviceName.card("DAC") == "hw:CARD=DAC")
        #expect(DeviceName.device("DAC", 1) == "hw:CARD=DAC,DEV=1")
    }

    @Test(
        "an enumerator of alsa-lib ends with −1, and would begin again behind it",
        arguments: [([0, 2, 5, -1, 0, 2, 5], [0, 2, 5]), ([-1, 0], []), ([], [])] as [([Int32], [Int32])])
    func enumeration(answers: [Int32], expected: [Int32]) {
        var rest = answers[...]
        let numbers = CardControl.numbers { number in
            guard let answer = rest.popFirst() else { return -ENODEV }
            number.pointee = answer
            return 0
        }
        #expect(numbers == expected)
    }

    @Test(
        "a missing card is a missing permission only where cards are forbidden and none can be opened",
        arguments: [
            (-ENOENT, [], true, .noPermission(device: "hw:DAC")),
            (-ENODEV, [], false, .absent(device: "hw:DAC", present: [])),
            (-ENXIO, ["hw:CARD=A"], true, .absent(device: "hw:DAC", present: ["hw:CARD=A"])),
            (-EACCES, [], false, .noPermission(device: "hw:DAC")), (-EPERM, [], false, .noPermission(device: "hw:DAC")),
            (-EBUSY, [], true, .busy(device: "hw:DAC")),
        ] as [(Int32, [String], Bool, DeviceError)])
    func openingFailed(code: Int32, present: [String], areForbidden: Bool, expected: DeviceError) {
        let error = DeviceError(
            opening: "hw:DAC", failure: ALSAFailure(code: code), present: { present }, areForbidden: { areForbidden })
        #expect(error == expected)
    }
}

@Suite("The cards of a machine without any", .enabled(if: !FileManager.default.fileExists(atPath: "/dev/snd")))
struct NoSoundCardTests {
    @Test("are none, and nothing fails", arguments: [ALSAConfiguration.system, .builtIn])
    func none(configuration: ALSAConfiguration) throws {
        #expect(SoundCard.all(configuration: configuration) == [])
        #expect(DeviceName.present(configuration: configuration) == [])
        #expect(throws: DeviceError.absent(device: "hw:CARD=DAC,DEV=0", present: [])) {
            try HardwareMixer.open(device: "hw:CARD=DAC,DEV=0", configuration: configuration)
        }
        #expect(try HardwareMixer.open(device: "null", configuration: configuration) == nil)
        #expect(throws: DeviceError.absent(device: "auto", present: [])) {
            try DeviceName.resolved("auto", configuration: configuration)
        }
        #expect(try DeviceName.resolved("null", configuration: configuration) == "null")
        #expect(DeviceName.absence(of: "auto", configuration: configuration) == "There is no sound card here.")
        #expect(
            DeviceName.absence(of: "hw:CARD=DAC", configuration: configuration)?.hasPrefix("hw:CARD=DAC: no such")
                == true)
        #expect(DeviceName.absence(of: "null", configuration: configuration) == nil)
    }

    @Test("what a PCM without a card can do is listed all the same")
    func availability() {
        let null = SoundCardDevice.Availability(of: "null", configuration: .builtIn)
        guard case .available(let capabilities) = null else {
            Issue.record("null is not available")
            return
        }
        #expect(capabilities.rates == DeviceCapabilities.usualRates)
        #expect(capabilities.sampleFormats == SampleFormat.allCases)
        #expect(capabilities.channels.contains(8))
        let absent = SoundCardDevice.Availability(of: "hw:7", configuration: .builtIn)
        #expect(absent == .unusable(.absent(device: "hw:7", present: [])))
    }
}

@Suite("Where alsa-lib learns the names")
struct ALSAConfigurationTests {
    @Test("names mean the same in the built-in configuration and the system's", arguments: ["null", "file:/dev/null"])
    func sameNames(device: String) throws {
        for configuration in [ALSAConfiguration.system, .builtIn] {
            let provider = ALSADeviceProvider(configuration: configuration)
            #expect(try provider.open(.stereo(device)).configuration.sampleRate == 44_100)
        }
    }

    @Test("a text that is no configuration is refused")
    func broken() {
        let provider = ALSADeviceProvider(configuration: .text("pcm.null { type"))
        #expect(throws: DeviceError.self) { try provider.open(.stereo("null")) }
    }
}
