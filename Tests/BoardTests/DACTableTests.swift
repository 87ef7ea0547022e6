import Platform
import Testing

@testable import Board

/// A table with each kind of row.
let exampleDACs = """
    [hifiberry-digi]
    title = A digital output
    products = Digi+ | Digi, v2
    read = 3b/01=88
    overlay = wm8804
    card = sndrpihifiberry

    [dac-hd]
    title = One with a chip that is not supported
    read = 62/11=8c
    unsupported = its chip has no driver. Take a USB DAC.

    [dacplus]
    title = A DAC or its amplifier
    names = pcm512x, dacplus-old
    uuids = 00000000-0000-0000-0000-00000000ABCD
    products = DAC+
    read = 4d/28=02, 4d/23=01 & !62/11=8c
    overlay = pcm512x
    card = sndrpihifiberry, IQaudIODAC
    mixer = Digital
    mixer-minimum = -60 dB
    mixer-maximum = 0 dB
    settle-at-start = 50 ms
    amplifier-line = 4
    amplifier-active = low
    amplifier-role = mute
    amplifier-unmute-after-start = 100 ms
    high = 17
    low = GPIO5
    lines = 25
    note = Both have the same EEPROM.

    """

func exampleTable() throws -> DACTable { try DACTable(parsing: Array(exampleDACs.utf8), path: "dacs") }

@Suite("The table of DACs")
struct DACTableTests {
    @Test("a row has everything about its DAC")
    func row() throws {
        let dac = try exampleTable().dac(named: "dacplus")
        func line(_ text: String) -> LineReference { LineReference(chip: "", text: text) }
        #expect(dac.otherNames == ["pcm512x", "dacplus-old"])
        #expect(dac.readings.map(\.count) == [1, 2])
        #expect(
            dac.support
                == .supported(
                    HeaderDAC.Sound(
                        overlay: "pcm512x",
                        sound: BoardSound(
                            cards: ["sndrpihifiberry", "IQaudIODAC"], mixer: "Digital", mixerRange: -6000...0,
                            settleAtStart: 50, settleAtRateChange: 0),
                        amplifier: BoardAmplifier(
                            line: line("4"), active: .low, role: .mute, muteBeforeStart: 0, unmuteAfterStart: 100,
                            muteBeforeStop: 0),
                        held: [
                            HeldLine(line: line("17"), level: .high), HeldLine(line: line("GPIO5"), level: .low),
                        ])))
        #expect(try exampleTable().dac(named: "hifiberry-digi").products == ["Digi+", "Digi, v2"])
    }

    @Test(
        "a DAC has several names; one that cannot be used is refused with the way out",
        arguments: [
            ("pcm512x", "dacplus"), ("dacplus-old", "dacplus"),
            ("dac-hd", "dac `dac-hd` is not supported: its chip has no driver. Take a USB DAC."),
            (
                "dacplsu",
                "dac `dacplsu` is unknown. Did you mean dacplus? The names are those of the overlays of Raspberry Pi "
                    + "OS; `tonearm board dac list` shows them."
            ),
        ])
    func name(name: String, expected: String) throws {
        let table = try exampleTable()
        do throws(UnusableDAC) {
            #expect(try table.dac(named: name).name == expected)
        } catch {
            #expect(error.description == expected)
        }
    }

    @Test(
        "all mistakes of a table",
        arguments: [
            ("[a]\noverlay = x\ncard = y", "dacs:1: [a] needs `title`"),
            ("[a]\ntitle = t", "dacs:1: [a] needs `overlay`; dacs:1: [a] needs `card`"),
            (
                "[a]\ntitle = t\noverlay = x\ncard = y\nread = 4d",
                "dacs:5: `read` has `4d`, which is no reading. An example: 4d/28=02."
            ),
            (
                "[a]\ntitle = t\noverlay = x\ncard = y\nread = 84/00=01",
                "dacs:5: `read` has `84/00=01`, which is no reading. An example: 4d/28=02."
            ),
            ("[a]\ntitle = t\noverlay = x\ncard = y\namplifier-line = 4", "dacs:1: [a] needs `amplifier-role`"),
            (
                "[a]\ntitle = t\noverlay = x\ncard = y\nmixer-maximum = 0 dB",
                "dacs:1: [a] needs both `mixer-minimum` and `mixer-maximum`, the first below the second"
            ),
            (
                "[a]\ntitle = t\nunsupported = why\noverlay = x\ncard = y",
                "dacs:3: `unsupported` stands beside `overlay`: one of them is wrong"
            ),
            (
                "[a]\ntitle = t\nunsupported = why\n[b]\nnames = a\ntitle = t\nunsupported = why",
                "dacs:4: `a` is a name already"
            ),
        ])
    func wrong(text: String, expected: String) {
        do throws(BoardProfileError) {
            _ = try DACTable(parsing: Array(text.utf8), path: "dacs")
            Issue.record("it was accepted")
        } catch {
            #expect(error.lines.joined(separator: "; ") == expected)
        }
    }
}

@Suite("The DAC on the header")
struct DACDetectionTests {
    @Test(
        "is known by its UUID, else by its product name, else by its registers, and is never guessed",
        arguments: [
            ("00000000-0000-0000-0000-00000000abcd", "Digi+", [:], "dacplus uuid"),
            (nil, "digi, V2", [:], "hifiberry-digi product"),
            ("other", "other", [:], "nothing"),
            (nil, nil, [0x3b01: 0x88], "hifiberry-digi read"),
            (nil, nil, [0x3b01: 0x89], "nothing"),
            (nil, nil, [0x4d28: 0x02], "dacplus read"),
            (nil, nil, [0x4d23: 0x01], "dacplus read"),
            // Two rows fit: the first one counts.
            (nil, nil, [0x4d28: 0x02, 0x6211: 0x8c], "dac-hd read"),
            (nil, "unknown", [0x4d28: 0x02], "dacplus read"),
            (nil, nil, [:], "nothing"),
        ] as [(String?, String?, [Int: UInt8], String)])
    func found(identifier: String?, product: String?, registers: [Int: UInt8], expected: String) throws {
        let isHAT = identifier != nil || product != nil
        var asked: [Int] = []
        let found = try exampleTable().find(isHAT ? HATIdentity(identifier: identifier, product: product) : nil) {
            asked.append(Int($0) << 8 | Int($1))
            return registers[Int($0) << 8 | Int($1)]
        }
        #expect(found.map { "\($0.dac.name) \($0.evidence.rawValue)" } ?? "nothing" == expected)
        #expect(Set(asked).count == asked.count, "a register was read twice")
    }

    @Test("an excluded reading holds without an answer; one without a value holds with any")
    func readings() throws {
        let excluded = try #require(RegisterReading("!62/11=8c"))
        #expect([nil, 0x8c, 0x8d].map(excluded.holds) == [true, false, true])
        let any = try #require(RegisterReading("20/00"))
        #expect([nil, 0, 0xff].map(any.holds) == [false, true, true])
        for text in ["", "/", "4d", "4d/", "4d/28=", "4d/28=2", "4d/028=02", "xx/00", "4d/28=02 "] {
            #expect(RegisterReading(text) == nil, "\(text)")
        }
    }
}

@Suite("A profile with a DAC on its header")
struct FittedProfileTests {
    static let wiring = """
        [board]
        name = x
        chip = c
        [button play]
        line = 13
        press = toggle
        [button next]
        line = 4
        press = next
        [encoder volume]
        line-a = 23
        line-b = 25
        [light green]
        line = GPIO5
        playing = on

        """

    func fitted(_ text: String) throws -> (profile: BoardProfile, mistakes: [String]) {
        try BoardProfile(parsing: Array(text.utf8), path: "p").fitted(with: exampleTable().dac(named: "dacplus"))
    }

    @Test("gets the DAC's card and lines, and loses the parts that would disturb it")
    func lines() throws {
        let (profile, mistakes) = try fitted(Self.wiring)
        func line(_ text: String) -> LineReference { LineReference(chip: "c", text: text) }
        #expect(profile.sound?.cards == ["sndrpihifiberry", "IQaudIODAC"])
        #expect(profile.amplifier?.line == line("4"))
        #expect(
            profile.heldLines
                == [HeldLine(line: line("17"), level: .high), HeldLine(line: line("GPIO5"), level: .low)])
        #expect(profile.partsOfDAC == ["amplifier", "output 17", "output GPIO5"])
        #expect(profile.buttons.map(\.name) == ["play"])
        #expect(profile.encoders.isEmpty && profile.lights.isEmpty)
        #expect(
            mistakes == [
                "[button next] is left out: dacplus has line 4 of c",
                "[encoder volume] is left out: dacplus has line 25 of c",
                "[light green] is left out: dacplus has line `GPIO5` of c",
            ])
    }

    @Test("keeps its own card and amplifier")
    func own() throws {
        let own = Self.wiring + "[sound]\ncard = own\n[amplifier]\nline = 17\nrole = enable\n"
        let profile = try fitted(own).profile
        #expect(profile.sound?.cards == ["own"])
        #expect(profile.amplifier?.role == .enable)
        #expect(profile.heldLines.map(\.line.text) == ["GPIO5"])
    }

    @Test("without a profile, the lines are those of the header")
    func header() throws {
        let profile = BoardProfile(headerWith: try exampleTable().dac(named: "dacplus"))
        #expect(profile.amplifier?.line.chip == LineReference.headerChip)
        let line = LineReference(chip: LineReference.headerChip, text: "4")
        #expect(line.isOnChip(labelled: "pinctrl-bcm2711") && line.isOnChip(labelled: "pinctrl-rp1"))
        #expect(!line.isOnChip(labelled: "header") && !line.isOnChip(labelled: "brcmvirt-gpio"))
    }
}
