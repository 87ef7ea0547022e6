import ApplianceTestSupport
import Queue
import Testing

@testable import Appliance
@testable import MPD

@Suite("MPD: versions of the queue (docs/mpd.md)")
struct MPDQueueVersionTests {
    private func ids(_ numbers: UInt32...) -> [EntryID] { numbers.map { EntryID($0) } }

    @Test("a client learns of the positions where another entry is")
    func changes() {
        var versions = MPDQueueVersions(startingAt: 100)
        let changed = [ids(1, 2, 3), ids(1, 2, 3)].map { versions.update($0) }
        #expect(changed == [true, false] && versions.version == 101)
        _ = versions.update(ids(1, 3, 2, 4))
        #expect(versions.changes(since: 101, in: 0..<9) == [1, 2, 3])
        #expect(versions.changes(since: 102, in: 0..<9) == [])
        _ = versions.update(ids(1, 3))
        // The client cuts its list by the length of the queue.
        #expect(versions.changes(since: 102, in: 0..<9) == [])
        #expect(versions.changes(since: 101, in: 0..<1) == [])
        versions.touch([0])
        #expect(versions.changes(since: 103, in: 0..<9) == [0])
    }

    @Test("with a version of a former start, or one that is not yet, it gets everything")
    func unknown() {
        var versions = MPDQueueVersions(startingAt: 100)
        _ = versions.update(ids(1, 2))
        #expect(versions.changes(since: 99, in: 0..<9) == [0, 1])
        #expect(versions.changes(since: 0, in: 0..<9) == [0, 1])
        #expect(versions.changes(since: 102, in: 0..<9) == [0, 1])
    }
}

@Suite("MPD: messages between clients (docs/mpd.md)")
struct MPDChannelTests {
    @Test("a message reaches the subscribers of its channel, once")
    func messages() throws {
        var channels = MPDChannels()
        try channels.subscribe(1, to: "a")
        try channels.subscribe(2, to: "a")
        try channels.subscribe(2, to: "b")
        #expect(channels.names == ["a", "b"])
        let receivers = try channels.send(.init(channel: "a", text: "x"))
        #expect(receivers.sorted() == [1, 2])
        let taken = [channels.take(1), channels.take(1)]
        #expect(taken == [[.init(channel: "a", text: "x")], []])
        try channels.unsubscribe(2, from: "b")
        #expect { try channels.send(.init(channel: "b", text: "x")) } throws: {
            ($0 as? MPDFailure)?.code == .noSuchObject
        }
        channels.forget(2)
        #expect(channels.names == ["a"])
    }

    @Test("limits and names")
    func limits() throws {
        var channels = MPDChannels()
        for number in 0..<MPDChannels.limit { try channels.subscribe(1, to: "c\(number)") }
        for (channel, message) in [
            ("c1", "already subscribed to this channel"), ("new", "subscription list is full"),
            ("a b", "invalid channel name"), ("", "invalid channel name"),
        ] {
            #expect { try channels.subscribe(1, to: channel) } throws: { ($0 as? MPDFailure)?.message == message }
        }
        for number in 0..<MPDChannels.messageLimit {
            _ = try channels.send(.init(channel: "c1", text: "\(number)"))
        }
        #expect(throws: MPDFailure.self) { try channels.send(.init(channel: "c1", text: "one more")) }
        let taken = channels.take(1)
        #expect(taken.count == MPDChannels.messageLimit)
    }
}
