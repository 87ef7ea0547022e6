import Platform
import Testing

@testable import tonearm

@Suite("tonearm offline")
struct OfflineCommandTests {
    @Test(
        "Mistakes in the command line are named",
        arguments: [
            (["add"], "needs products"), (["add", "song.flac"], "song.flac: must be"), (["ad"], "Did you mean add"),
            (["list", "x"], "takes no x"), (["remove"], "needs products"), (["cancel"], "needs products"),
            (["remove", "--all", "tonearm:track/1"], "does not go with --all"), (["add", "--all"], "--all goes with"),
            (["list", "--watch"], "--watch goes with"),
            (["add", "tonearm:track/1", "--priority", "x"], "--priority x"),
            (["list", "--priority", "1"], "--priority goes with"), (["add", "tonearm:track/"], "must be"),
        ])
    func mistakes(_ words: [String], _ part: String) {
        do throws(UsageError) {
            _ = try OfflineCommand(words)
            Issue.record("\(words) is accepted")
        } catch {
            #expect(error.message.contains(part), "\(error.message)")
        }
    }

    @Test("Tracks, videos, albums and playlists are products")
    func products() throws(UsageError) {
        for name in ["add", "remove", "cancel", "pause", "resume", "verify"] {
            _ = try OfflineCommand([
                name, "tonearm:track/1", "tonearm:video/x", "tonearm:album/2", "tonearm:playlist/3",
            ])
        }
        for words in [[], ["list"], ["status", "--watch"], ["verify"], ["remove", "--all"], ["cancel", "--all"]] {
            _ = try OfflineCommand(words)
        }
    }

    @Test(
        "Lines of the list",
        arguments: [
            (
                #"{"product":"tonearm:track/7","state":"kept","bytes":31250000,"quality":"lossless","#
                    + #""validUntil":1798761600,"title":"Song","artist":"Band"}"#,
                "tonearm:track/7  kept        31.2 MB    lossless  until 2027-01-01  Band - Song"
            ),
            (
                #"{"product":"tonearm:track/8","state":"running","percent":40,"bytes":999,"quality":null}"#,
                "tonearm:track/8  40 %        999 bytes"
            ),
            (
                #"{"product":"tonearm:track/7","state":"kept","bytes":31250000,"quality":"high","#
                    + #""mode":"dolby-atmos","presentation":"preview","received":"tonearm:track/99"}"#,
                "tonearm:track/7  kept        31.2 MB    high  dolby-atmos  preview  plays tonearm:track/99"
            ),
            (
                #"{"product":"tonearm:track/7","state":"kept","bytes":31250000,"quality":"high","#
                    + #""mode":"stereo","presentation":"full","received":null}"#,
                "tonearm:track/7  kept        31.2 MB    high"
            ),
            (
                #"{"product":"tonearm:track/9","state":"waiting","waitsFor":"unmetered-network","bytes":0}"#,
                "tonearm:track/9  waits for Wi-Fi or Ethernet  0 bytes  "
            ),
            (
                #"{"product":"tonearm:track/9","state":"waiting","waitsFor":"retry","retryIn":12.1,"bytes":5}"#,
                "tonearm:track/9  waits for a retry in 13 s  5 bytes  "
            ),
            (
                #"{"product":"tonearm:track/9","state":"failed","reason":"a\u001bb","bytes":0}"#,
                "tonearm:track/9  failed      0 bytes    a b"
            ),
        ])
    func lines(_ json: String, _ line: String) throws {
        #expect(OfflineText.line(try JSONValue.parse(json)) == line)
    }

    @Test(
        "The total says when a retry comes",
        arguments: [
            ("3600.0", "a retry in 60 min"), ("120.5", "a retry in 3 min"), ("119", "a retry in 119 s"),
            ("0.001", "a retry in 1 s"), ("0.0", "the answer to a retry"), ("null", "a retry"),
            ("1e300", "a retry in 16666667 min"),
        ])
    func total(_ seconds: String, _ words: String) throws {
        let status = try JSONValue.parse(
            #"{"kept":2,"downloads":1,"bytes":0,"budget":null,"waitsFor":"retry","retryIn":\#(seconds)}"#)
        #expect(OfflineText.total(status) == "offline copies: 2, downloads: 1, 0 bytes\nDownloads wait for \(words).")
    }

    @Test("The status has a bar for what runs, a line for what is retried, and nothing for the others")
    func progress() throws {
        func text(_ json: String) throws -> String? {
            OfflineText.progress(try JSONValue.parse(json), columns: 35)
        }
        #expect(
            try text(#"{"product":"tonearm:track/7","state":"running","percent":40,"bytes":5}"#)
                == "tonearm:track/7 [####      ]  40 %")
        #expect(
            try text(#"{"product":"tonearm:track/7","state":"waiting","waitsFor":"retry","retryIn":0,"bytes":5}"#)
                == "tonearm:track/7  waits for the answer to a retry  5 bytes  ")
        #expect(
            try text(#"{"product":"tonearm:track/7","state":"waiting","waitsFor":"space","bytes":5}"#) == nil)
    }

    @Test("The bar fits the terminal, however narrow")
    func bar() throws {
        let entry = try JSONValue.parse(#"{"product":"tonearm:track/7","percent":40}"#)
        #expect(OfflineText.bar(entry, columns: 35) == "tonearm:track/7 [####      ]  40 %")
        #expect(OfflineText.bar(entry, columns: 20) == "tonearm:track/7  40 %")
        for columns in 34..<120 { #expect(OfflineText.bar(entry, columns: columns).count < columns) }
    }

    @Test(
        "Sizes for people",
        arguments: [
            (0, "0 bytes"), (999, "999 bytes"), (1000, "1.0 kB"), (31_250_000, "31.2 MB"), (999_999, "999.9 kB"),
            (5_000_000_000, "5.0 GB"), (Int64.max, "8388607 TiB"),
        ] as [(Int64, String)])
    func sizes(_ count: Int64, _ text: String) { #expect(OfflineText.bytes(count) == text) }
}
