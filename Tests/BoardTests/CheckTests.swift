@testable import Board
import Foundation
import Platform
import TestSupport
import Testing

@Suite("A profile against the hardware")
struct CheckTests {
    let board: DrivenBoard
    let folder: ScratchFolder

    init() throws {
        board = try DrivenBoard(
            """
            [amplifier]
            line = 4
            role = mute
            [button play]
            line = 1
            press = toggle
            [button stop]
            line = 2
            press = stop
            [encoder volume]
            line-a = 5
            line-b = 6
            [light green]
            line = 3
            playing = on
            [network]
            cellular = usb0, usb1
            unmetered = wg0
            """)
        folder = try ScratchFolder()
        for card in ["card0", "card1", "seq"] { try Folder.create(folder["sound/\(card)"]) }
        for (card, id) in [("card0", "Headphones"), ("card1", "DAC")] {
            try Data("\(id)\n".utf8).write(to: URL(fileURLWithPath: folder["sound/\(card)/id"]))
            try FileManager.default.createSymbolicLink(atPath: folder["sound/\(id)"], withDestinationPath: card)
        }
        try Folder.create(folder["net/usb0"])
    }

    func findings(mixer: (String) -> CardMixer = { _ in .unusable("not asked for") }) -> [String] {
        BoardCheck.findings(
            board.profile, lines: board.lines, mixer: mixer, sound: folder["sound"], network: folder["net"]
        ).map { "\($0.verdict) \($0.subject): \($0.message)" }
    }

    @Test("existing and missing hardware, and what to do")
    func everything() {
        func line(_ offset: Int) -> LineReference { LineReference(chip: "c", line: .offset(offset)) }
        board.lines.errors["line 2 of c"] = .lineTaken(line(2), by: "leds-gpio")
        board.lines.errors["line 3 of c"] = .lineMissing(line(3), count: 3)
        board.lines.initiallyActive = ["line 1 of c", "line 5 of c"]
        #expect(
            findings() == [
                "missing sound: no sound card `HiFi`. Cards here: DAC, Headphones.",
                "present amplifier: line 4 of c",
                "missing button play: line 1 of c is active at rest: the button is held, "
                    + "or `active` is inverted in the profile",
                "missing button stop: line 2 of c: in use by `leds-gpio`.",
                "present encoder volume: line 5 of c and line 6 of c",
                "missing light green: line 3 of c: no such line. The chip has 3 lines, 0 to 2.",
                "present network usb0: counts as cellular",
                "absent network usb1: no such interface now; it will count as cellular",
                "absent network wg0: no such interface now; it will count as not metered",
            ])
        // The check causes no pop and lights no light.
        #expect(board.lines.outputs == ["line 4 of c": [true]])
    }

    @Test("the card is found by its id")
    func card() throws {
        try FileManager.default.createSymbolicLink(atPath: folder["sound/HiFi"], withDestinationPath: "card1")
        let found = findings { card in .controls([.init(name: card, range: -100...0)], chosen: card) }
        #expect(found.prefix(2) == ["present sound: card HiFi is here", "present mixer: HiFi, -1 to 0 dB"])
        try FileManager.default.removeItem(atPath: folder["sound"])
        #expect(findings().first == "missing sound: no sound card `HiFi`. This machine has none.")
    }
}

@Suite("A profile's mixer against the card's")
struct MixerCheckTests {
    static let dac = CardMixer.controls(
        [
            .init(name: "Analogue", range: -600...0), .init(name: "Digital", range: -10_350...2_405),
            .init(name: "Auto Mute", range: nil),
        ], chosen: "Digital")

    @Test(
        "the control and its range",
        arguments: [
            ("", dac, "present mixer: Digital, -103.5 to 24.05 dB"),
            ("mixer = Analogue", dac, "present mixer: Analogue, -6 to 0 dB"),
            (
                "mixer = Digital\nmixer-minimum = -60 dB\nmixer-maximum = 0 dB", dac,
                "present mixer: Digital, -60 to 0 dB of -103.5 to 24.05 dB"
            ),
            (
                "mixer-minimum = -103.5 dB\nmixer-maximum = 24 dB", dac,
                "present mixer: Digital, -103.5 to 24 dB of -103.5 to 24.05 dB"
            ),
            (
                "mixer = Analogue\nmixer-minimum = -60 dB\nmixer-maximum = 0 dB", dac,
                "missing mixer: `Analogue` does only -6 to 0 dB: set mixer-minimum and mixer-maximum to a part of that"
            ),
            (
                "mixer = Analogue\nmixer-minimum = -6 dB\nmixer-maximum = 0.5 dB", dac,
                "missing mixer: `Analogue` does only -6 to 0 dB: set mixer-minimum and mixer-maximum to a part of that"
            ),
            (
                "mixer = digital", dac,
                "missing mixer: no control `digital`. Controls with decibels here: Analogue, Digital."
            ),
            (
                "mixer = Auto Mute", dac,
                "missing mixer: `Auto Mute` has no volume in decibels. Controls with decibels here: Analogue, Digital."
            ),
            (
                "mixer = PCM", .controls([.init(name: "PCM", range: nil)], chosen: nil),
                "missing mixer: `PCM` has no volume in decibels. The card has none with decibels: without `mixer` the "
                    + "volume is software."
            ),
            // Two of a name: the player takes the one that has decibels.
            (
                "mixer = PCM",
                .controls([.init(name: "PCM", range: nil), .init(name: "PCM", range: -50...0)], chosen: nil),
                "present mixer: PCM, -0.5 to 0 dB"
            ),
            (
                "", .controls([], chosen: nil),
                "present mixer: none that the volume could be set with: it is software"
            ),
            (
                "", .controls([.init(name: "Left", range: -1...0), .init(name: "Right", range: -1...0)], chosen: nil),
                "present mixer: none that the volume could be set with: it is software"
            ),
            (
                "mixer-minimum = -9 dB\nmixer-maximum = 0 dB",
                .controls([.init(name: "Left", range: -5...0)], chosen: nil),
                "missing mixer: mixer-minimum and mixer-maximum are without a control: name one in `mixer`. "
                    + "Controls with decibels here: Left."
            ),
            ("mixer = PCM", .unusable("hw:CARD=HiFi: not permitted."), "missing mixer: hw:CARD=HiFi: not permitted."),
        ] as [(String, CardMixer, String)])
    func finding(sound: String, mixer: CardMixer, expected: String) throws {
        let text = "[board]\nname = test\n[sound]\ncard = HiFi\n" + sound
        let profile = try BoardProfile(parsing: Array(text.utf8), path: "test")
        let finding = MixerCheck.finding(try #require(profile.sound), on: mixer)
        #expect("\(finding.verdict) \(finding.subject): \(finding.message)" == expected)
    }
}

@Suite("GPIO chips that are not there")
struct GPIOLinesTests {
    let line = LineReference(chip: "pinctrl-bcm2711", line: .offset(17))

    func errors(_ lines: GPIOLines) -> [LineError] {
        var errors: [LineError] = []
        do throws(LineError) {
            _ = try lines.input(line, active: .low, bias: .pullUp, debounce: 20)
        } catch {
            errors.append(error)
        }
        do throws(LineError) {
            _ = try lines.output(line, active: .high, initially: false)
        } catch {
            errors.append(error)
        }
        return errors
    }

    @Test(
        "no chip at all, no folder at all, and something that only has a chip's name",
        arguments: [
            nil, "gpiochip0", "missing/",
        ])
    func noChips(name: String?) throws {
        let folder = try ScratchFolder()
        if name == "gpiochip0" {
            // A device, but no GPIO chip.
            try FileManager.default.createSymbolicLink(atPath: folder["gpiochip0"], withDestinationPath: "/dev/null")
        }
        let lines = GPIOLines(deviceFolder: name == "missing/" ? folder["missing"] : folder.path)
        let missing = LineError.chipMissing(line, present: [])
        #expect(errors(lines) == [missing, missing])
    }

    @Test(
        "errors say what is wrong and what to do",
        arguments: [
            (
                .chipMissing(LineReference(chip: "a", line: .offset(1)), present: []),
                "line 1 of a: no such GPIO chip. This machine has none."
            ),
            (
                .chipMissing(LineReference(chip: "a", line: .name("SDA")), present: ["b", "c"]),
                "line `SDA` of a: no such GPIO chip. Chips here: b, c."
            ),
            (
                .noPermission(LineReference(chip: "a", line: .offset(1)), device: "/dev/gpiochip0"),
                "line 1 of a: not permitted to open /dev/gpiochip0. "
                    + "Add the user to the group that owns it, often `gpio`."
            ),
            (
                .lineTaken(LineReference(chip: "a", line: .offset(1)), by: "tonearm"),
                "line 1 of a: in use by `tonearm`."
            ),
            (
                .lineTaken(LineReference(chip: "a", line: .offset(1)), by: nil),
                "line 1 of a: in use by another program or driver."
            ),
            (
                .failed(LineReference(chip: "a", line: .offset(1)), operation: "request", code: 22),
                "line 1 of a: request: Invalid argument."
            ),
        ] as [(LineError, String)])
    func text(error: LineError, expected: String) {
        #expect(error.description == expected)
    }
}
