import PCM
import Testing
@testable import tonearm

@Suite("Options of `tonearm play`")
struct PlayOptionsTests {
    @Test("without any, the documented defaults")
    func defaults() throws {
        let options = try PlayOptions(parsing: ["album", "song.flac"])
        var expected = PlayOptions()
        expected.paths = ["album", "song.flac"]
        #expect(options == expected)
        #expect(expected.device == nil && expected.normalization == .off && expected.preAmp == 4)
        #expect(expected.volume == nil && expected.start == 0 && expected.sampleFormat == nil && !expected.json)
        #expect(expected.bufferMilliseconds == 200 && expected.periodCount == 4)
    }

    @Test("all of them")
    func all() throws {
        let options = try PlayOptions(parsing: [
            "--device", "hw:CARD=DAC", "--normalize", "album", "--pre-amp", "-3", "--volume", "40%", "--start", "12.5",
            "--format", "S24_3LE", "--buffer", "500", "--periods", "8", "--json", "--", "-x.flac",
        ])
        var expected = PlayOptions()
        expected.device = "hw:CARD=DAC"
        expected.normalization = .album
        expected.preAmp = -3
        expected.volume = 40
        expected.start = 12.5
        expected.sampleFormat = .s24Packed
        expected.bufferMilliseconds = 500
        expected.periodCount = 8
        expected.json = true
        expected.paths = ["-x.flac"]
        #expect(options == expected)
    }

    @Test("the device `default` is the first card")
    func defaultDevice() throws {
        #expect(try PlayOptions(parsing: ["--device", "default", "x"]).device == nil)
    }

    @Test(
        "every sample format by ALSA's name",
        arguments: zip(["S32_LE", "S24_LE", "S24_3LE", "S16_LE", "IEC958_SUBFRAME_LE"], SampleFormat.allCases))
    func formats(name: String, format: SampleFormat) throws {
        #expect(try PlayOptions(parsing: ["--format", name, "x"]).sampleFormat == format)
    }

    @Test(
        "a value out of range names the option, the value and the range",
        arguments: [
            (["--volume", "101"], "--volume 101: must be a whole number of percent from 0 to 100."),
            (["--volume", "-1"], "--volume -1: must be a whole number of percent from 0 to 100."),
            (["--volume", "loud"], "--volume loud: must be a whole number of percent from 0 to 100."),
            (["--pre-amp", "31"], "--pre-amp 31: must be a whole number of dB from -30 to 30."),
            (["--pre-amp", "1.5"], "--pre-amp 1.5: must be a whole number of dB from -30 to 30."),
            (["--buffer", "9"], "--buffer 9: must be a whole number of milliseconds from 10 to 10000."),
            (["--dsd", "native"], "--dsd native: must be pcm or dop."),
            (["--periods", "1"], "--periods 1: must be a whole number of periods from 2 to 64."),
            (["--start", "-1"], "--start -1: must be a number of seconds from 0 on, like 90 or 12.5."),
            (["--start", "1:30"], "--start 1:30: must be a number of seconds from 0 on, like 90 or 12.5."),
            (["--start", "nan"], "--start nan: must be a number of seconds from 0 on, like 90 or 12.5."),
            (["--normalize", "on"], "--normalize on: must be off, track or album."),
            (
                ["--format", "s16_le"],
                "--format s16_le: must be one of S32_LE, S24_LE, S24_3LE, S16_LE, IEC958_SUBFRAME_LE. "
                    + "Did you mean S16_LE?"
            ),
            (["--device="], "--device needs a name. List the devices with `tonearm devices`."),
        ])
    func ranges(words: [String], message: String) {
        #expect(throws: UsageError(message)) { try PlayOptions(parsing: words + ["x"]) }
    }

    @Test("nothing to play, or a path that is empty")
    func paths() {
        #expect(throws: UsageError("nothing to play. Name files or folders: `tonearm play FOLDER`.")) {
            try PlayOptions(parsing: ["--json"])
        }
        #expect(throws: UsageError("path number 2 is empty.")) { try PlayOptions(parsing: ["a", ""]) }
    }
}

@Suite("Where things are")
struct PlacesTests {
    @Test(
        "the state folder follows the XDG specification",
        arguments: [
            ("/state", "/home/a", "/state/tonearm"), (nil, "/home/a", "/home/a/.local/state/tonearm"),
            ("relative", "/home/a", "/home/a/.local/state/tonearm"), ("", "/home/a", "/home/a/.local/state/tonearm"),
            (nil, nil, nil), (nil, "", nil),
        ] as [(String?, String?, String?)])
    func stateFolder(stateHome: String?, home: String?, folder: String?) {
        #expect(StateFolder.path(stateHome: stateHome, home: home) == folder)
    }

    @Test(
        "the file of a file device; none where it is a command or has place-holders",
        arguments: [
            ("file:FILE=/tmp/x.raw,FORMAT=raw", "/tmp/x.raw"), ("file:FORMAT=wav,FILE=x.wav", "x.wav"),
            ("file:/tmp/x.raw,raw", "/tmp/x.raw"), ("file:/tmp/x.raw", "/tmp/x.raw"),
            ("file:FILE=|cat,FORMAT=raw", nil),
            ("file:FILE=/tmp/%r.raw", nil), ("file:FORMAT=raw", nil), ("hw:CARD=DAC", nil), ("null", nil),
        ] as [(String, String?)])
    func fileDevice(device: String, path: String?) {
        #expect(OutputDevice.filePath(of: device) == path)
    }
}
