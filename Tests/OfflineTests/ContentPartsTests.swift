import Network
import Platform
import Testing

@testable import Offline
@testable import Playback
@testable import Player

@Suite("The record of a download")
struct ContentPartsTests {
    @Test("It is the same from its text, and cut to what is on the medium")
    func parts() throws {
        var parts = ContentParts()
        parts.all = [
            .init(start: 0, validator: "\"a b\""), .init(start: 70_000), .init(start: 140_000, validator: "x"),
        ]
        #expect(ContentParts(parts.text) == parts)
        var cut = parts
        let start = cut.cut(to: 131_072)
        #expect(start.index == 1 && start.offset == 61_072 && start.validator == nil)
        #expect(cut.all.count == 2)
        parts.forgetValidators(before: 131_072)
        #expect(parts.all[0].validator == nil && parts.all[2].validator == "x")
        // Where the second one begins, the first one is complete.
        var atStart = parts
        let next = atStart.cut(to: 70_000)
        #expect(next.index == 1 && next.offset == 0 && atStart.all.count == 1)
        var none = ContentParts()
        let begin = none.cut(to: 0)
        #expect(begin.index == 0 && begin.offset == 0)
    }

    @Test("A text that is none", arguments: ["a", "5\n4\n", "-1", "9223372036854775808"])
    func malformed(_ text: String) { #expect(ContentParts(text) == nil) }

    @Test("Requests and what has come are the same from their texts")
    func texts() {
        for audio in AudioQuality.allCases {
            for video in VideoQuality.allCases {
                let request = OfflineRequest(audioQuality: audio, videoQuality: video)
                #expect(OfflineRequest(request.text) == request)
            }
        }
        #expect(OfflineRequest("LOSSLESS") == nil && OfflineRequest("LOSSLESS HIGH LOW") == nil)
        let received = OfflineItem.Received(
            product: ServiceAddress(.video, "9"), assetPresentation: .preview, audioMode: .dolbyAtmos,
            audioQuality: .hiRes, videoQuality: .low,
            replayGain: .init(trackGain: -1.25, trackPeak: 0.5, albumGain: 3, albumPeak: 1), title: "a\"\n", artist: "é"
        )
        #expect(OfflineItem.Received(received.text) == received)
        #expect(!received.text.contains("parts"))
    }

    @Test("The parts of an offline copy: also endless ones, and those of a damaged row")
    func copyParts() throws {
        let parts = [
            OfflineCopyPart(start: 0, clip: 0.1..<2.5, duration: 2.4),
            OfflineCopyPart(start: 70_000, clip: 1..<Double.infinity),
            OfflineCopyPart(start: 70_000, duration: 3), OfflineCopyPart(start: .max),
        ]
        var received = OfflineItem.Received(
            product: ServiceAddress(.track, "9"), assetPresentation: .full, replayGain: .init())
        received.parts = parts
        #expect(OfflineItem.Received(received.text)?.parts == parts)
        for text in [
            "{}", "[]", "[[1,null,null,null]]", "[[0,null,null]]", "[[0,null,2,1]]", "[[0,null,null,null],[-1,1,2,3]]",
            "[[0,null,null,null],1]", "[[5,null,null,null],[4,null,null,null]]",
        ] {
            #expect([OfflineCopyPart](try JSONValue.parse(text)) == nil, "\(text)")
        }
    }
}
