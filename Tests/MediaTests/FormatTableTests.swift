import PCM
import Testing

@testable import Media

/// A format of its own: `TEST`, then samples of 16 bits, one channel, 1000 Hz. In the sources it would be a folder.
extension AudioProperties.Container {
    fileprivate static var test: Self { Self(200, "test", mediaType: "audio/x-test") }
}

extension AudioProperties.Codec {
    fileprivate static var test: Self { Self(201, "test", .lossless) }
}

extension AudioFormat {
    fileprivate static let test = AudioFormat(
        .test, suffixes: ["tst"], mediaTypes: ["audio/x-test"], begins: { $0.has("TEST") }
    ) { input throws(Interruption) in
        let layout = SampleLayout(byteCount: 2, bitDepth: 16, isBigEndian: false, coding: .integer)
        let packets = PCMPackets(
            input.source, layout: layout, channelCount: 1, sampleRate: 1000, dataOffset: 4, declaredBytes: nil)
        var track = packets.track(in: .test, input.tags)
        track.properties.codec = .test
        return packets.decoder(track, input.steps)
    } encodedBytes: { input throws(Interruption) in
        input.bytes(from: input.start + 4)
    }
}

@Suite("The table of formats")
struct FormatTableTests {
    @Test("A format that is a row more is recognised, decoded, named and found")
    func oneMore() throws {
        let all = FormatTable.all
        let table = FormatTable(
            formats: all.formats + [.test], codecs: all.codecs + [CodecRow(.test, label: "Test", names: ["test"])])
        let file = MemorySource(Array("TEST".utf8) + [1, 0, 2, 0, 0xFF, 0xFF])
        let decoder = try #require(try AudioOpening(file, table).attempt())
        #expect(decoder.properties.container.rawValue == "test" && decoder.properties.codec == .test)
        #expect(try decoder.decodeAll().samples == [1 << 16, 2 << 16, -1 << 16])
        #expect(table.suffixes().last == "tst" && table.labels.hasSuffix(", Test"))
        #expect(table.container(number: 200) == .test && table.codec(number: 201) == .test)
        #expect(table.format(of: .test)?.container.mediaType == "audio/x-test")
        // It is no format without its row.
        #expect(throws: MediaError.self) { try AudioOpening(file).attempt() }
    }

    @Test("Each container and codec has one row, one number, one name; each suffix belongs to one format")
    func unique() {
        let table = FormatTable.all
        for numbers in [table.formats.map(\.container.number), table.codecs.map(\.codec.number)] {
            // The library stores them: 0, 1, 2 and so on.
            #expect(numbers.sorted() == Array(0..<UInt8(numbers.count)))
        }
        let names = table.formats.map(\.container.rawValue)
        #expect(Set(names).count == names.count)
        #expect(Set(table.suffixes()).count == table.suffixes().count)
        for format in table.formats {
            let container = format.container
            #expect(format.mediaTypes.contains { "\($0)" == container.mediaType }, "\(container.rawValue)")
        }
    }

    @Test("The library's numbers of formats stay what they are")
    func numbers() {
        #expect(
            (0..<11).map { FormatTable.all.container(number: $0)?.rawValue } == [
                "flac", "wav", "aiff", "mp4", "adts", "mp3", "ogg", "wavpack", "dsf", "dff", "matroska",
            ])
        #expect(
            (0..<13).map { FormatTable.all.codec(number: $0)?.rawValue } == [
                "flac", "alac", "pcm", "alaw", "ulaw", "aac", "mp3", "mp2", "vorbis", "opus", "wavpack", "dsd",
                "wavpack-lossy",
            ])
    }
}
