@testable import Board
import Foundation
import Platform
import Testing

@Suite("Board profiles")
struct ProfileTests {
    static let minimal = "[board]\nname = x\nchip = c\n[sound]\ncard = DAC\n"

    func parse(_ text: String) throws(BoardProfileError) -> BoardProfile {
        try BoardProfile(parsing: Array(text.utf8), path: "board.conf")
    }

    func problems(_ text: String) -> [String] {
        do throws(BoardProfileError) {
            _ = try parse(text)
            return []
        } catch {
            return error.description.split(separator: "\n").map(String.init)
        }
    }

    @Test("a whole profile")
    func whole() throws {
        let profile = try parse(
            """
            [board]
            name = A board
            chip = pinctrl
            reserved = 2, SDA

            [sound]
            card = HiFi
            mixer = Digital
            mixer-minimum = -60.5 dB
            mixer-maximum = 0 dB
            settle-at-start = 50 ms
            settle-at-rate-change = 1 s

            [amplifier]
            line = 4
            active = low
            role = enable
            mute-before-start = 10 ms
            unmute-after-start = 20 ms
            mute-before-stop = 30 ms

            [button play]
            chip = gpiochip7
            line = GPIO17
            active = high
            bias = pull-down
            debounce = 5 ms
            press = toggle
            long-press = stop
            double-press = next
            long-press-after = 1 s
            double-press-within = 250 ms
            repeat-after = 400 ms
            repeat-every = 100 ms
            stuck-after = 20 s

            [encoder volume]
            line-a = 23
            line-b = 24
            bias = pull-up
            steps-per-detent = 2
            clockwise = next
            counter-clockwise = previous

            [light green]
            line = 12
            active = low
            playing = on
            error = fast

            [network]
            cellular = usb0, usb1
            unmetered = wg0
            """)
        func line(_ offset: Int) -> LineReference { LineReference(chip: "pinctrl", line: .offset(offset)) }
        #expect(
            profile
                == BoardProfile(
                    name: "A board", chip: "pinctrl",
                    reservedLines: [line(2), LineReference(chip: "pinctrl", line: .name("SDA"))],
                    sound: BoardSound(
                        cards: ["HiFi"], mixer: "Digital", mixerRange: -6050...0, settleAtStart: 50,
                        settleAtRateChange: 1000),
                    amplifier: BoardAmplifier(
                        line: line(4), active: .low, role: .enable, muteBeforeStart: 10, unmuteAfterStart: 20,
                        muteBeforeStop: 30),
                    buttons: [
                        BoardButton(
                            name: "play", line: LineReference(chip: "gpiochip7", line: .name("GPIO17")), active: .high,
                            bias: .pullDown, press: .toggle, longPress: .stop, doublePress: .next,
                            timing: ButtonTiming(
                                debounce: 5, longPress: 1000, doublePress: 250, repeatDelay: 400, repeatInterval: 100,
                                stuck: 20_000))
                    ],
                    encoders: [
                        BoardEncoder(
                            name: "volume", lineA: line(23), lineB: line(24), active: .low, bias: .pullUp,
                            stepsPerDetent: 2,
                            clockwise: .next, counterClockwise: .previous)
                    ],
                    lights: [
                        BoardLight(
                            name: "green", line: line(12), active: .low, patterns: [.playing: .on, .error: .fast])
                    ],
                    cellularInterfaces: ["usb0", "usb1"], unmeteredInterfaces: ["wg0"]))
    }

    @Test(
        "every action has its name",
        arguments: zip(
            ButtonAction.allCases,
            [
                "play", "pause", "toggle", "next", "previous", "stop", "volume-up", "volume-down", "mute", "shuffle",
                "network-restart", "restart", "power-off",
            ]))
    func actions(action: ButtonAction, name: String) throws {
        let profile = try parse(Self.minimal + "[button b]\nline = 1\npress = \(name)\n")
        #expect(profile.buttons.map(\.press) == [action])
        #expect(profile.buttons.map(\.timing) == [ButtonTiming()])
    }

    @Test("an old name of an action is taken, with a notice")
    func oldAction() throws {
        let profile = try parse(Self.minimal + "[button b]\nline = 1\npress = stop\nlong-press = play-pause\n")
        #expect(profile.buttons.map(\.longPress) == [.toggle])
        #expect(
            profile.notices == ["board.conf:9: `long-press`: `play-pause` is deprecated. Write `toggle`."])
        #expect(try parse(Self.minimal + "[button b]\nline = 1\npress = toggle\n").notices == [])
    }

    @Test(
        "a mistake is reported with its line and the allowed values",
        arguments: [
            (
                "[button b]\nline = 1\npress = plya",
                "board.conf:8: `press` cannot be `plya`. Allowed: play, pause, toggle, next, "
                    + "previous, stop, volume-up, volume-down, mute, shuffle, network-restart, restart, "
                    + "power-off."
            ),
            (
                "[button b]\nline = 1\npress = stop\ndebounce = 20",
                "board.conf:9: `debounce` cannot be `20`. Allowed: "
                    + "0 ms to 200 ms, as a whole number with the unit ms or s."
            ),
            (
                "[button b]\nline = 1\npress = stop\nbias = up",
                "board.conf:9: `bias` cannot be `up`. Allowed: as-is, none, pull-up, pull-down."
            ),
            (
                "[button b]\nline = 1",
                "board.conf:6: [button b] does nothing: it needs `press`, `long-press` or "
                    + "`double-press`"
            ),
            ("[button b]\npress = stop", "board.conf:6: [button b] needs `line`"),
            ("[button]\nline = 1\npress = stop", "board.conf:6: [button] needs a name: [button NAME]"),
            ("[network usb]\ncellular = usb0", "board.conf:6: [network usb] has no name: write [network]"),
            (
                "[screen]\nline = 1",
                "board.conf:6: [screen] is no section of a board profile. Allowed: [board], [sound], "
                    + "[amplifier], [network], [button NAME], [encoder NAME], [light NAME]."
            ),
            (
                "[light l]\nline = 1\nasleep = on",
                "board.conf:8: [light l] has no `asleep`. Allowed: "
                    + "chip, line, active, error, boot, stalled, offline, paused, playing."
            ),
            (
                "[button a]\nline = 1\npress = stop\n[light l]\nline = 1",
                "board.conf:10: `line` is line 1 of c, which [button a] has already"
            ),
            (
                "[encoder e]\nline-a = 1\nline-b = 1",
                "board.conf:8: `line-b` is line 1 of c, which [encoder e] has already"
            ),
            (
                "[encoder e]\nline-a = 1\nline-b = 2\nsteps-per-detent = 3",
                "board.conf:9: `steps-per-detent` cannot be `3`. Allowed: 1, 2, 4."
            ),
            ("[amplifier]\nline = 1", "board.conf:6: [amplifier] needs `role`"),
            (
                "[amplifier]\nline = 1\nrole = silence",
                "board.conf:8: `role` cannot be `silence`. Allowed: mute, enable."
            ),
        ])
    func wrong(text: String, expected: String) {
        #expect(problems(Self.minimal + text) == [expected])
    }

    @Test("a wiring needs no sound card, but a name")
    func wiring() throws {
        #expect(try parse("[board]\nname = x\n").sound == nil)
        #expect(problems("[sound]\ncard = x\n") == ["board.conf: there is no section [board]"])
        #expect(try parse("[board]\nname = x\n[sound]\ncard = a, b\n").sound?.cards == ["a", "b"])
    }

    @Test("all mistakes at once, in the order of the lines")
    func atOnce() {
        let text = "[board]\nchip c\nreserved = 1\n[button b]\nline = 1\npress = go\n"
        #expect(
            problems(text).map { String($0.prefix { $0 != " " }) } == [
                "board.conf:1:", "board.conf:2:", "board.conf:3:", "board.conf:5:", "board.conf:6:",
            ])
    }

    @Test(
        "the mixer's range has two ends in the right order",
        arguments: [
            "mixer-minimum = -60 dB", "mixer-maximum = 0 dB", "mixer-minimum = 0 dB\nmixer-maximum = -60 dB",
        ])
    func range(entries: String) {
        #expect(
            problems("[board]\nname = x\n[sound]\ncard = DAC\n" + entries) == [
                "board.conf:3: [sound] needs both `mixer-minimum` and `mixer-maximum`, the first below the second"
            ])
    }
}

@Suite("The profiles in board/")
struct ShippedProfileTests {
    static let folder =
        URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().path + "/board"

    /// A folder for each wiring, beside that of the device tree overlays.
    static let names = ((try? Folder.entries(of: folder)) ?? [])
        .filter { $0.kind == .folder && $0.name != "overlays" }.map(\.name)

    func profile(_ name: String) throws -> BoardProfile {
        let path = "\(Self.folder)/\(name)/board.conf"
        return try BoardProfile(parsing: File.contents(of: path, limit: 65_536), path: path)
    }

    @Test("are those that are promised")
    func promised() {
        let expected = [
            "any-hat", "codec-zero", "justboom", "one-button", "phat-beat", "pirate-audio", "rpi-audio",
            "two-buttons-led", "usb-dac", "virtual",
        ]
        #expect(Self.names.sorted() == expected)
    }

    @Test("can be read, have no line twice, and a board can be switched off with them", arguments: Self.names)
    func complete(name: String) throws {
        let profile = try profile(name)
        let actions = profile.buttons.flatMap { [$0.press, $0.longPress, $0.doublePress] }.compactMap { $0 }
        #expect(Set([.toggle, .next, .powerOff]).subtracting(actions) == [])
    }

    @Test(
        "the header's lines: within the header, and none that a DAC or the HAT's identification needs",
        arguments: Self.names.filter { $0 != "virtual" })
    func header(name: String) throws {
        let profile = try profile(name)
        let inputs = profile.buttons.map(\.line) + profile.encoders.flatMap { [$0.lineA, $0.lineB] }
        let chips = ["pinctrl-bcm2711", "pinctrl-bcm2835", "pinctrl-rp1"]
        let needed = [0, 1, 2, 3, 18, 19, 20, 21]
        #expect(profile.reservedLines.map(\.line) == needed.map { .offset($0) })
        for line in inputs + profile.lights.map(\.line) {
            guard case .offset(let offset) = line.line else { Issue.record("\(line) is no header line"); continue }
            #expect((4...27).contains(offset) && !needed.contains(offset), "\(line)")
            #expect(chips.allSatisfy { line.isOnChip(labelled: $0) })
        }
        // The table of DACs has the amplifier's line.
        #expect(profile.amplifier == nil)
        // Without a pull-up, an open contact has a random level.
        #expect(profile.buttons.allSatisfy { $0.active == .low && $0.bias == .pullUp })
        #expect(profile.encoders.allSatisfy { $0.active == .low && $0.bias == .pullUp })
    }

    @Test("the virtual board has eight lines, high until a test presses a button")
    func virtual() throws {
        let profile = try profile("virtual")
        let lines = profile.buttons.map(\.line) + profile.lights.map(\.line)
        let eight = (0..<8).map { LineReference(chip: "9030000.pl061", line: .offset($0)) }
        #expect(lines.allSatisfy { eight.contains($0) })
        #expect(profile.buttons.allSatisfy { $0.active == .low && $0.bias == .asIs })
        #expect(profile.sound?.cards == ["HiFi"])
    }
}
