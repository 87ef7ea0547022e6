import Foundation
import Platform
import TestSupport
import Testing

@testable import Library

@Suite("A scan waits on battery")
struct MachinePowerTests {
    private let scratch: ScratchFolder

    init() throws { scratch = try ScratchFolder() }

    /// Writes supplies: `BAT0: type=Battery status=Discharging`.
    private func write(_ supplies: [String]) throws {
        for supply in supplies {
            let words = supply.split(separator: " ").map(String.init)
            let folder = scratch["power/\(words[0].dropLast())"]
            try Folder.create(folder)
            for word in words.dropFirst() {
                let parts = word.split(separator: "=").map(String.init)
                try FileReplacement.write(Array("\(parts[1])\n".utf8), to: "\(folder)/\(parts[0])")
            }
        }
    }

    @Test(
        "Power supplies",
        arguments: [
            ([], false), (["AC: type=Mains online=1"], false), (["AC: type=Mains online=0"], false),
            (["BAT0: type=Battery status=Discharging"], true), (["BAT0: type=Battery status=Full"], false),
            (["BAT0: type=Battery status=Discharging", "AC: type=Mains online=0"], true),
            (["BAT0: type=Battery status=Discharging", "AC: type=Mains online=1"], false),
            (["BAT0: type=Battery status=Discharging", "usb: type=USB online=0", "pd: type=USB online=2"], false),
            (["BAT0: type=Battery status=Charging", "BAT1: type=Battery status=Discharging"], true),
            (["hid: type=Battery status=Discharging scope=Device"], false),
            (["ups: type=UPS status=Discharging"], true), (["x: status=Discharging"], false),
        ])
    func supplies(supplies: [String], isOnBattery: Bool) throws {
        try write(supplies)
        #expect(MachinePower(scratch["power"]).isOnBattery == isOnBattery)
    }

    @Test("A scan begins when the machine does not run on battery any more; the progress says why it waits")
    func scan() throws {
        let music = try MusicFolder()
        try music.add("a.flac")
        try write(["BAT0: type=Battery status=Discharging"])
        let power = MachinePower(scratch["power"])
        let control = ScanControl(lookInterval: 1_000_000) { power.isOnBattery }
        // Safe: the thread alone uses it until it has ended.
        nonisolated(unsafe) let folder = music
        let thread = try NamedThread.start(name: "scan") {
            control.begin()
            do { try folder.scan(control) } catch { Issue.record(error) }
            control.end()
        }
        try waitUntil("the wait") { control.progress.waitsForPower }
        #expect(control.progress.done == 0)
        try write(["BAT0: type=Battery status=Charging"])
        thread.joinOrEndRun()
        #expect(control.progress.done == 1 && !control.progress.waitsForPower)
        #expect(try music.titles.count == 1)
    }

    @Test("A scan that waits can be stopped, and power is looked at once in an interval")
    func stop() throws {
        let looks = Recorder<Int>()
        let waiting = ScanControl {
            looks.record(1)
            return true
        }
        waiting.begin()
        let thread = try NamedThread.start(name: "scan") { _ = waiting.mayReadNext() }
        try waitUntil("the wait") { waiting.progress.waitsForPower }
        waiting.stop()
        thread.joinOrEndRun()
        #expect(looks.elements.count == 1)
        let other = ScanControl {
            looks.record(2)
            return false
        }
        other.begin()
        for _ in 0..<100 { #expect(other.mayReadNext()) }
        #expect(looks.elements == [1, 2])
    }
}
