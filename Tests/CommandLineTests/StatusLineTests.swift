import Output
import PCM
import Player
import Testing
@testable import tonearm

@Suite("Text on a terminal")
struct DisplayTextTests {
    @Test(
        "control characters become blanks, invisible ones and those that turn the direction go",
        arguments: [
            ("plain", "plain"), ("a\u{1B}[2Jb", "a [2Jb"), ("a\nb\tc\u{7F}", "a b c "), ("a\u{9B}2Jb", "a 2Jb"),
            ("a\u{202E}b\u{2066}c", "abc"), ("a\u{200B}b", "ab"), ("東京 é", "東京 é"),
        ])
    func visible(text: String, visible: String) {
        #expect(DisplayText.visible(text) == visible)
    }

    @Test(
        "columns",
        arguments: [
            ("", 0), ("abc", 3), ("東京", 4), ("한국", 4), ("ｶﾅ", 2), ("カナ", 4), ("e\u{301}", 1), ("é", 1), ("Ω–…", 3),
            ("🎵", 2),
            ("Ж", 1), ("ก\u{0E34}", 1),
        ])
    func columns(text: String, columns: Int) {
        #expect(DisplayText.columns(text) == columns)
    }

    @Test(
        "shortened if it is too long, never inside a wide character and never before an accent",
        arguments: [
            ("abcdef", 6, "abcdef"), ("abcdef", 5, "abcd…"), ("abcdef", 1, "…"), ("abcdef", 0, ""), ("東京都", 5, "東京…"),
            ("東京都", 4, "東…"), ("e\u{301}e\u{301}e\u{301}", 2, "e\u{301}…"),
        ])
    func shortened(text: String, limit: Int, shortened: String) {
        #expect(Array(DisplayText.shortened(text, to: limit).unicodeScalars) == Array(shortened.unicodeScalars))
    }
}

@Suite("The status line")
struct StatusLineTests {
    private static func now(
        title: String? = "Prelude", artist: String? = "Ensemble", position: Double = 61.9, duration: Double? = 120,
        state: PlaybackState = .playing, volume: Int = 100, withDevice: Bool = true, path: SignalPath? = nil
    ) -> NowPlaying {
        var context = PlaybackContext(productId: "music/01.flac", playbackSessionId: "", referenceId: "")
        context.title = title
        context.artist = artist
        context.duration = duration
        context.audioSampleRate = 44_100
        context.audioBitDepth = 16
        let device = DeviceConfiguration(
            device: "hw:CARD=DAC", sampleRate: 44_100, channelCount: 2, sampleFormat: .s32, significantBits: 24,
            bufferFrames: 8820, periodFrames: 2205, memoryMapped: true)
        return NowPlaying(
            file: "music/01.flac", context: context, state: state, position: position,
            device: withDevice ? device : nil, path: path, volume: volume)
    }

    @Test("everything, if there is room; the bar gets the rest")
    func wide() {
        #expect(
            StatusLine(Self.now()).text(columns: 101)
                == "Prelude – Ensemble  1:01/2:00  [===========-----------]  "
                + "44100 Hz 16 bit stereo → S32_LE hw:CARD=DAC"
        )
    }

    @Test("the formats end with what happens to the samples")
    func path() {
        let line = StatusLine(Self.now(path: SignalPath([]))).text(columns: 120)
        #expect(line.hasSuffix("44100 Hz 16 bit stereo → S32_LE hw:CARD=DAC, bit-perfect"))
        let dop = StatusLine(Self.now(path: SignalPath([], isDSDOverPCM: true))).text(columns: 130)
        #expect(dop.hasSuffix("hw:CARD=DAC, bit-perfect, DSD over PCM"))
    }

    @Test(
        "narrower: first the formats go, then the bar, then the end of the title",
        arguments: [
            (60, "Prelude – Ensemble  1:01/2:00  [=============-------------]"),
            (44, "Prelude – Ensemble  1:01/2:00  [=====-----]"),
            (42, "Prelude – Ensemble  1:01/2:00  [====----]"),
            (41, "Prelude – Ensemble  1:01/2:00"),
            (24, "Prelude – E…  1:01/2:00"),
            (14, "P…  1:01/2:00"),
            (12, "1:01/2:00"),
            (8, "1:01/2…"),
            (1, ""),
            (0, ""),
        ])
    func narrow(columns: Int, line: String) {
        #expect(StatusLine(Self.now()).text(columns: columns) == line)
    }

    @Test("narrower than the terminal with every title", arguments: 0...140)
    func fits(columns: Int) {
        for title in ["", "x", "東京都交響楽団のとても長い題名の曲", String(repeating: "e\u{301}", count: 200)] {
            let line = StatusLine(Self.now(title: title)).text(columns: columns)
            #expect(DisplayText.columns(line) < max(columns, 1))
        }
    }

    @Test(
        "the known parts of the time and the state",
        arguments: [
            (now(duration: nil), "Prelude – Ensemble  1:01"),
            (now(duration: nil, state: .notPlaying), "Prelude – Ensemble  1:01 paused"),
            (now(duration: nil, state: .stalled), "Prelude – Ensemble  1:01 waiting"),
            (now(duration: nil, volume: 40), "Prelude – Ensemble  1:01 vol 40%"),
            (now(artist: nil, position: 3725, duration: nil), "Prelude  1:02:05"),
            (now(title: nil, artist: nil, duration: nil), "01.flac  1:01"),
            (now(title: "a\u{1B}]0;b\u{7}", artist: nil, duration: nil), "a ]0;b   1:01"),
        ])
    func texts(now: NowPlaying, line: String) {
        var now = now
        now.device = nil
        #expect(StatusLine(now).text(columns: 80) == line)
    }

    @Test(
        "the reason why it does not play replaces bar and formats; a narrow terminal shortens it",
        arguments: [
            (100, "Prelude – Ensemble  1:01/2:00 waiting: hw:CARD=DAC: no such device."),
            (60, "Prelude – Ens…  1:01/2:00 waiting: hw:CARD=DAC: no such de…"),
            (30, "Pre…  1:01/2:00 waiting: hw:…"), (18, "1:01/2:00 waitin…"), (1, ""), (0, ""),
        ])
    func problem(columns: Int, line: String) {
        var now = Self.now(state: .stalled)
        now.problem = "hw:CARD=DAC: no such device."
        #expect(StatusLine(now).text(columns: columns) == line)
    }

    @Test(
        "nothing is current",
        arguments: [
            ([], 80, "stopped"), (["the queue is empty"], 80, "stopped: the queue is empty"),
            (["the queue is empty", "no card\u{1B}"], 80, "stopped: the queue is empty; no card "),
            (["the queue is empty"], 20, "stopped: the queue…"), (["x"], 0, ""),
        ] as [([String], Int, String)])
    func stopped(reasons: [String], columns: Int, line: String) {
        #expect(StatusLine.stopped(reasons, columns: columns) == line)
    }

    @Test(
        "the bar is empty at the start and full at the end",
        arguments: [(0.0, "[----------]"), (120.0, "[==========]")])
    func bar(position: Double, bar: String) {
        let line = StatusLine(Self.now(position: position, withDevice: false)).text(columns: 44)
        #expect(line.hasSuffix(bar))
    }
}
