import Testing
@testable import Events

@Suite("Stored facts")
struct FactCodingTests {
    @Test("every fact is read as it was written")
    func roundTrip() throws {
        let time = EventTime(
            milliseconds: 1_790_000_000_123, isProved: false,
            systemStart: SystemStart(boot: "b", milliseconds: 1_790_000_000_000))
        let kinds: [SessionFact.Kind] = [
            .fetched(SessionFetch(.license, milliseconds: 1, .failed(code: "a4032", message: "not \"here\" ☹"))),
            .fetched(SessionFetch(.playbackInfo, milliseconds: 0, .other)),
            .opened(
                SessionContent(productId: "1", audioMode: nil, quality: "LOW", isOfflineCopy: true, duration: 1.25)),
            .requested, .started(position: 0.1 + 0.2), .stopped(position: 3, .seek),
            .changed(position: 9.5, SessionRepresentation(codec: "aac")), .reached(position: 1e9),
            .ended(position: nil, .complete), .ended(position: 5, .failed(code: "", message: "")),
        ]
        for kind in kinds {
            let fact = SessionFact(time, kind)
            #expect(FactCoding.fact(FactCoding.text(of: fact)) == fact)
        }
        let start = SessionStart(
            id: "a", time: time, kind: .download, reason: .implicit, isVideo: true, productId: "9",
            source: EventSource(type: nil, id: "x"), extras: ["k": "v", "": "\u{1}"], isOfflineMode: true, link: .wifi,
            account: AccountMark(rawValue: -5))
        #expect(FactCoding.start(FactCoding.text(of: start)) == start)
    }

    @Test("a beginning that an earlier version stored keeps its meaning")
    func stored() throws {
        let links: [SessionStart.Link] = [.none, .ethernet, .wifi, .cellular, .other]
        for (number, link) in links.enumerated() {
            let text = #"{"id":"a","kind":0,"reason":1,"product":"9","time":[5,true],"link":\#(number)}"#
            let start = try #require(FactCoding.start(text))
            #expect(start.link == link && start.kind == .playback && start.reason == .implicit)
            #expect(start.time == EventTime(milliseconds: 5))
        }
    }

    @Test(
        "a text of a later version, or a damaged one, is nil",
        arguments: [
            "", "{", "7", #"{"is":99,"time":[1,true]}"#, #"{"is":3,"time":[1,true]}"#, #"{"is":2}"#,
            #"{"is":"2","time":[1]}"#,
            #"{"is":7,"time":[1,true],"end":"later"}"#, #"{"is":7,"time":[1,true],"end":3}"#,
        ])
    func unknown(_ text: String) {
        #expect(FactCoding.fact(text) == nil)
        #expect(FactCoding.start(text) == nil)
    }
}
