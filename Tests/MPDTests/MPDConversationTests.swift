import ApplianceTestSupport
import Testing

@testable import Appliance
@testable import MPD

@Suite("MPD: lines, lists and idle (docs/mpd.md)")
struct MPDConversationTests {
    private func receive(_ conversation: inout MPDConversation, _ line: String) -> MPDConversation.Action {
        conversation.receive(Array(line.utf8))
    }

    private func changed(
        _ conversation: inout MPDConversation, _ parts: MPDSubsystems
    ) -> MPDConversation.Action {
        conversation.changed(parts)
    }

    private func reply(_ text: String) -> MPDConversation.Action { .reply(Array(text.utf8)) }

    @Test("a line is a command, and a list is carried out at its end")
    func lists() {
        var conversation = MPDConversation()
        #expect(receive(&conversation, "status \t") == .run(MPDCommandList(.single, [Array("status".utf8)])))
        #expect(receive(&conversation, "command_list_ok_begin") == .nothing)
        #expect(receive(&conversation, "play 1") == .nothing)
        #expect(receive(&conversation, "status") == .nothing)
        var list = MPDCommandList(.listOK)
        _ = list.append(Array("play 1".utf8))
        _ = list.append(Array("status".utf8))
        #expect(receive(&conversation, "command_list_end") == .run(list))
        #expect(receive(&conversation, "command_list_begin") == .nothing)
        #expect(receive(&conversation, "command_list_end") == .run(MPDCommandList(.list)))
    }

    @Test("changes are told once, to a client that waits, and those before the wait at once")
    func idle() {
        var conversation = MPDConversation()
        #expect(changed(&conversation, [.mixer, .player]) == .nothing)
        #expect(receive(&conversation, "idle playlist") == .nothing)
        #expect(conversation.isIdle)
        #expect(changed(&conversation, .options) == .nothing)
        #expect(changed(&conversation, .playlist) == reply("changed: playlist\nOK\n"))
        #expect(!conversation.isIdle)
        #expect(receive(&conversation, "idle") == reply("changed: player\nchanged: mixer\nchanged: options\nOK\n"))
        #expect(receive(&conversation, "idle") == .nothing)
        #expect(receive(&conversation, "noidle") == reply("OK\n"))
        // A client sends it although the change was faster.
        #expect(receive(&conversation, "noidle") == .nothing)
    }

    @Test("an unknown part is refused", arguments: ["idle foo", "idle player foo"])
    func unknownPart(line: String) {
        var conversation = MPDConversation()
        #expect(receive(&conversation, line) == reply("ACK [2@0] {idle} Unrecognized idle event: foo\n"))
        #expect(!conversation.isIdle)
    }

    @Test("anything but noidle ends a client that waits, as does idle in a list, and what is not MPD's protocol")
    func closing() {
        for lines in [
            ["idle", "status"], ["command_list_begin", "idle"], ["command_list_begin", "noidle"], ["GET / HTTP/1.1"],
            ["lsinfo \"..\0\""],
            [" status"], ["{}"],
        ] {
            var conversation = MPDConversation()
            var last = MPDConversation.Action.nothing
            for line in lines { last = receive(&conversation, line) }
            #expect(last == .close, "\(lines)")
        }
    }

    @Test("a list of more than 2 MiB ends the connection")
    func longList() {
        var conversation = MPDConversation()
        #expect(receive(&conversation, "command_list_begin") == .nothing)
        let line = "add " + String(repeating: "x", count: 8000)
        var count = 0
        while receive(&conversation, line) == .nothing { count += 1 }
        #expect(count == MPDCommandList.limit / (line.utf8.count + MPDCommandList.lineOverhead))
    }
}
