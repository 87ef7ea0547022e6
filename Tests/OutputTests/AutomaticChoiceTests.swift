import Foundation
import PCM
import TestSupport
import Testing

@testable import Output

@Suite("The device of auto")
struct AutomaticChoiceTests {
    static let dac = SoundCardDevice.Availability.available(
        DeviceCapabilities(rates: [44_100], channels: [2], sampleFormats: [.s16]))
    /// An HDMI output of a Raspberry Pi.
    static let subframes = SoundCardDevice.Availability.available(
        DeviceCapabilities(rates: [44_100], channels: [2], sampleFormats: [.iec958Subframe]))
    static let floats = SoundCardDevice.Availability.available(
        DeviceCapabilities(rates: [44_100], channels: [2], sampleFormats: []))
    static let broken = SoundCardDevice.Availability.unusable(.refused(device: "", code: -5, reason: ""))

    struct Card {
        let kind: OutputKind
        let availability: SoundCardDevice.Availability

        init(_ kind: OutputKind, _ availability: SoundCardDevice.Availability = dac) {
            self.kind = kind
            self.availability = availability
        }
    }

    func choose(
        _ cards: [Card], last: Int? = nil, now: Int64 = 0, with choice: inout AutomaticChoice
    ) -> AutomaticChoice.Result {
        let candidates = cards.enumerated().map { OutputCandidate(device: "\($0.offset)", kind: $0.element.kind) }
        return choice.choose(among: candidates, last: last.map { "\($0)" }, now: now) { name in
            cards[Int(name) ?? 0].availability
        }
    }

    @Test(
        "is the first of the best kind that can play; without one, the best that there is",
        arguments: [
            ([Card(.other), Card(.usb)], 1),
            ([Card(.jack), Card(.hdmiWithDisplay, subframes), Card(.board), Card(.other)], 2),
            ([Card(.jack), Card(.hdmiWithDisplay, subframes)], 1),
            ([Card(.hdmiWithoutDisplay, subframes), Card(.jack)], 1),
            ([Card(.hdmiWithoutDisplay, subframes)], 0),
            ([Card(.usb, broken), Card(.jack)], 1),
            ([Card(.usb, floats), Card(.jack)], 1),
            ([Card(.notForPeople), Card(.jack)], 1),
            ([Card(.notForPeople)], nil), ([], nil),
            ([Card(.usb, broken), Card(.jack, floats)], 0),
            ([Card(.jack, broken), Card(.usb, floats)], 1),
            // Nothing else can play: opening it gives the reason.
            ([Card(.usb, .busy), Card(.jack, broken)], 0),
            ([Card(.usb), Card(.usb)], 0),
        ] as [([Card], Int?)])
    func ranked(cards: [Card], expected: Int?) {
        var choice = AutomaticChoice()
        #expect(choose(cards, with: &choice) == expected.map { .device("\($0)") } ?? .none)
    }

    @Test("of two of a kind it is the one that played last")
    func last() {
        var choice = AutomaticChoice()
        #expect(choose([Card(.usb), Card(.usb)], last: 1, with: &choice) == .device("1"))
        #expect(choose([Card(.jack), Card(.usb)], last: 0, with: &choice) == .device("1"))
    }

    @Test("what played last is what was opened, before that what played before the program started")
    func lastOfEarlier() {
        let provider = ALSADeviceProvider(configuration: .builtIn)
        provider.prefer("hw:CARD=Earlier,DEV=0")
        #expect(provider.lastOpened == nil, "the mixer of a card that is not open stays as it is")
        let opened = OpenedName()
        #expect(opened.preferred == nil)
        opened.prefer("hw:CARD=Earlier,DEV=0")
        #expect(opened.preferred == "hw:CARD=Earlier,DEV=0" && opened.name == nil)
        #expect(opened.change(to: "hw:CARD=Now,DEV=0"))
        #expect(opened.preferred == "hw:CARD=Now,DEV=0")
    }

    @Test("a better one that is in use is waited for, for two seconds; then the next plays")
    func busy() {
        var choice = AutomaticChoice()
        let cards = [Card(.jack), Card(.usb, .busy)]
        #expect(choose(cards, now: 5_000_000_000, with: &choice) == .wait("1"))
        #expect(choose(cards, now: 6_999_999_999, with: &choice) == .wait("1"))
        #expect(choose(cards, now: 7_000_000_000, with: &choice) == .device("0"))
        // Another time, it is waited for again.
        #expect(choose(cards, now: 9_000_000_000, with: &choice) == .wait("1"))
        #expect(choose([Card(.jack), Card(.usb)], now: 9_500_000_000, with: &choice) == .device("1"))
        // A worse one in use is nothing to wait for.
        #expect(choose([Card(.jack, .busy), Card(.usb)], now: 20_000_000_000, with: &choice) == .device("1"))
    }

    @Test(
        "a device is left for a better kind that can play, and for nothing else",
        arguments: [
            ([Card(.jack), Card(.usb)], true), ([Card(.jack), Card(.usb, .busy)], false),
            ([Card(.jack), Card(.usb, broken)], false), ([Card(.usb), Card(.usb)], false),
            ([Card(.usb), Card(.jack)], false), ([Card(.notForPeople), Card(.usb)], true),
        ] as [([Card], Bool)])
    func better(cards: [Card], expected: Bool) {
        let candidates = cards.enumerated().map { OutputCandidate(device: "\($0.offset)", kind: $0.element.kind) }
        let result = AutomaticChoice.hasBetter(than: "0", among: candidates) { cards[Int($0) ?? 0].availability }
        #expect(result == expected)
        #expect(!AutomaticChoice.hasBetter(than: "gone", among: candidates) { _ in Self.dac })
    }
}

@Suite("The kind of a playback device")
struct OutputKindTests {
    typealias Facts = OutputKind.Facts

    @Test(
        "follows from its driver, its bus and its display",
        arguments: [
            (Facts(driver: "USB-Audio", isUSB: true, deviceName: "USB Audio"), .usb),
            (Facts(driver: "simple-card", isOfBoard: true, deviceName: "bcm2835-i2s-pcm5102a-hifi"), .board),
            (Facts(driver: "HDA-Intel", deviceName: "ALC256 Analog"), .other),
            (Facts(driver: "HDA-Intel", deviceName: "HDMI 0", hasDisplay: true), .hdmiWithDisplay),
            (Facts(driver: "HDA-Intel", deviceName: "HDMI 1", hasDisplay: false), .hdmiWithoutDisplay),
            (
                Facts(driver: "vc4-hdmi", isOfBoard: true, deviceName: "MAI PCM i2s-hifi-0", hasDisplay: true),
                .hdmiWithDisplay
            ),
            (Facts(driver: "vc4-hdmi", isOfBoard: true, deviceName: "MAI PCM i2s-hifi-0"), .hdmiWithoutDisplay),
            (Facts(driver: "bcm2835_headphones", isOfBoard: true, deviceName: "bcm2835 Headphones"), .jack),
            (Facts(driver: "Loopback", isOfBoard: true, deviceName: "Loopback PCM"), .notForPeople),
            (Facts(driver: "Dummy", isOfBoard: true, deviceName: "Dummy PCM"), .notForPeople),
            (Facts(driver: "UAC2_Gadget", deviceName: "UAC2 PCM"), .notForPeople),
        ] as [(OutputKind.Facts, OutputKind)])
    func kind(facts: Facts, expected: OutputKind) {
        #expect(OutputKind(facts) == expected)
    }

    @Test("bus and displays are read from the kernel's folders")
    func kernel() throws {
        let folder = try ScratchFolder()
        for path in ["bus/usb", "class/sound/card1/device", "class/drm/card0-HDMI-A-1", "class/drm/version"] {
            try folder.create(path)
        }
        try folder.link("class/sound/card1/device/subsystem", to: folder["bus/usb"])
        var survey = OutputSurvey(configuration: .builtIn)
        survey.system = folder.path
        #expect(survey.bus(ofCard: 1) == "usb")
        #expect(survey.bus(ofCard: 2) == nil)
        #expect(survey.isAnyDisplayConnected() == nil)
        try folder.write("class/drm/card0-HDMI-A-1/status", "disconnected\n")
        #expect(survey.isAnyDisplayConnected() == false)
        try folder.write("class/drm/card0-HDMI-A-1/status", "connected\n")
        #expect(survey.isAnyDisplayConnected() == true)
    }
}

@Suite("The program that uses a device")
struct DeviceOwnerTests {
    @Test(
        "is named with the way out, where the kernel says it",
        arguments: [
            ("owner_pid   : 512\n", "aplay", "aplay (process 512)"),
            (
                "state: RUNNING\nowner_pid   : 512\n", "pipewire",
                "pipewire (process 512). To give the card to the player: "
                    + "systemctl --user disable --now pipewire.socket pipewire pipewire-pulse.socket wireplumber"
            ),
            ("closed\n", "aplay", "another program"),
            ("owner_pid   : 7\n", "aplay", "another program"),
        ])
    func text(status: String, program: String, expected: String) throws {
        let folder = try ScratchFolder()
        try folder.create("asound/card2/pcm0p/sub0")
        try folder.create("512")
        try folder.write("asound/card2/pcm0p/sub0/status", status)
        try folder.write("512/comm", program + "\n")
        #expect(DeviceOwner(of: 0, ofCard: 2, processes: folder.path).text == expected)
    }
}

extension ScratchFolder {
    fileprivate func create(_ name: String) throws {
        try FileManager.default.createDirectory(atPath: self[name], withIntermediateDirectories: true)
    }

    fileprivate func link(_ name: String, to target: String) throws {
        try FileManager.default.createSymbolicLink(atPath: self[name], withDestinationPath: target)
    }

    fileprivate func write(_ name: String, _ text: String) throws {
        try Data(text.utf8).write(to: URL(fileURLWithPath: self[name]))
    }
}
