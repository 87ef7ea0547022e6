import ApplianceTestSupport
import PCM
import Player
import QueueTestSupport
import Testing

@testable import Appliance

@Suite("Commands, from wherever they come")
struct CommandTests {
    @Test("Each has its own name")
    func names() {
        for command in ApplianceCommand.allCases { #expect(ApplianceCommand(name: command.name) == command) }
        #expect(Set(ApplianceCommand.allCases.map(\.name)).count == ApplianceCommand.allCases.count)
        #expect(ApplianceCommand(name: "Play") == nil)
        #expect(ApplianceCommand(name: "") == nil)
    }

    @Test("Each command has its effect")
    func dispatch() throws {
        let tracks = try Tracks()
        let fixture = try ConductorFixture()
        defer { fixture.shutDown() }
        let settings = fixture.player.playbackEngineConfig
        settings.maximumVolume = Volume(percent: 90)
        settings.volume = Volume(percent: 50)
        let products = try tracks.make("abc", frames: 1000)
        fixture.perform { conductor in
            try! conductor.set(products, playing: false)
            var asked: [SystemCommand] = []
            let volume = VolumeControl(settings, loop: fixture.loop)
            let dispatcher = CommandDispatcher(queue: conductor, volume: volume) { asked.append($0) }
            func index() -> Int? { conductor.contents.current.flatMap(conductor.contents.index) }
            dispatcher.perform(.play)
            #expect(conductor.wantsToPlay)
            dispatcher.perform(.pause)
            #expect(!conductor.wantsToPlay)
            dispatcher.perform(.toggle)
            #expect(conductor.wantsToPlay)
            dispatcher.perform(.next)
            #expect(index() == 1)
            dispatcher.perform(.previous)
            #expect(index() == 0)
            dispatcher.perform(.stop)
            #expect(!conductor.wantsToPlay)
            dispatcher.perform(.shuffle)
            #expect(conductor.contents.isShuffled)
            dispatcher.perform(.shuffle)
            #expect(!conductor.contents.isShuffled)
            dispatcher.perform(.volumeDown)
            #expect(settings.volume.percent == 50 - VolumeControl.step)
            dispatcher.perform(.mute)
            #expect(settings.isMuted)
            dispatcher.perform(.volumeDown)
            #expect(settings.isMuted, "softer is no reason to be heard again")
            for _ in 0..<100 { dispatcher.perform(.volumeUp) }
            #expect(settings.volume.percent == 90)
            #expect(!settings.isMuted)
            for _ in 0..<100 { dispatcher.perform(.volumeDown) }
            #expect(settings.volume == .muted)
            dispatcher.perform(.networkRestart)
            dispatcher.perform(.restart)
            dispatcher.perform(.powerOff)
            #expect(asked == [.networkRestart, .restart, .powerOff])
        }
    }
}

@Suite("A start and the stored queue")
struct ResumeTests {
    @Test(
        "playing, paused, empty",
        arguments: [
            (ResumePolicy.playing, true, true, ResumeDecision.resume(position: 61.5, playing: true)),
            (.playing, true, false, .resume(position: 61.5, playing: false)),
            (.playing, false, true, .wait), (.playing, false, false, .wait),
            (.paused, true, true, .resume(position: 61.5, playing: false)),
            (.paused, true, false, .resume(position: 61.5, playing: false)),
            (.paused, false, true, .wait), (.paused, false, false, .wait),
            (.empty, true, true, .startEmpty), (.empty, true, false, .startEmpty),
            (.empty, false, true, .startEmpty), (.empty, false, false, .startEmpty),
        ])
    func decisions(policy: ResumePolicy, hasCurrent: Bool, wasPlaying: Bool, decision: ResumeDecision) {
        #expect(
            ResumeDecision.atStart(policy, hasCurrent: hasCurrent, position: 61.5, wasPlaying: wasPlaying) == decision)
    }
}
