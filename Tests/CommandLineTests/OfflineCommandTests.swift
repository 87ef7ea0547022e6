import Platform
import Testing

@testable import tonearm

@Suite("tonearm offline")
struct OfflineCommandTests {
    @Test(
        "What is wrong with the command line is named",
        arguments: [
            (["add"], "needs products"), (["add", "song.flac"], "song.flac: must be"), (["ad"], "Did you mean add"),
            (["list", "x"], "takes no x"), (["remove"], "needs products"),
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
        for name in ["add", "remove", "pause", "resume", "verify"] {
            _ = try OfflineCommand([
                name, "tonearm:track/1", "tonearm:video/x", "tonearm:album/2", "tonearm:playlist/3",
            ])
        }
        for words in [[], ["list"], ["status", "--watch"], ["verify"], ["remove", "--all"]] {
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
                #"{"product":"tonearm:track/9","state":"waiting","waitsFor":"unmetered-network","bytes":0}"#,
                "tonearm:track/9  waits for Wi-Fi or Ethernet  0 bytes  "
            ),
            (
                #"{"product":"tonearm:track/9","state":"failed","reason":"a\u001bb","bytes":0}"#,
                "tonearm:track/9  failed      0 bytes    a b"
            ),
        ])
    func lines(_ json: String, _ line: String) throws {
        #expect(OfflineText.line(try JSONValue.parse(json)) == line)
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
