import Platform
import Testing

@testable import tonearm

@Suite("tonearm status, for a stream")
struct StatusTextTests {
    private func lines(_ json: String) throws -> [String] {
        StatusText(try JSONValue.parse(Array(json.utf8))).lines
    }

    @Test(
        "The reason of the wait, in words",
        arguments: [
            (#"{"for":"medium","seconds":null}"#, "the medium"),
            (#"{"for":"link","seconds":null}"#, "a link to the network"),
            (#"{"for":"network","seconds":3.2}"#, "the network, retried in 4 s"),
            (#"{"for":"service","seconds":0}"#, "the service, retried now"),
        ])
    func wait(json: String, words: String) throws {
        #expect(try lines(#"{"state":"stalled","wait":\#(json)}"#).contains("waits for \(words)"))
    }

    @Test("The signal path, in words")
    func path() throws {
        let exact = try lines(#"{"path":{"bitPerfect":true,"changes":[]}}"#)
        #expect(exact == ["path      bit-perfect"])
        let changed = try lines(#"{"path":{"bitPerfect":false,"changes":["rate","volume","new"]}}"#)
        #expect(changed == ["path      rate converted, volume scaled"])
        #expect(try lines(#"{"path":null}"#) == [])
        let dop = try lines(#"{"path":{"bitPerfect":true,"changes":[],"dsdOverPCM":true}}"#)
        #expect(dop == ["path      bit-perfect, DSD over PCM: software volume and normalization do not apply"])
    }

    @Test(
        "How the device plays the channels of the audio",
        arguments: [
            (6, #"{"kind":"placed","channels":6,"routing":"straight"}"#, "6 channels in the device's order"),
            (2, #"{"kind":"mixed","channels":6,"routing":"straight"}"#, "6 channels mixed down to 2"),
            (2, #"{"kind":"placed","channels":2,"routing":"swapped"}"#, "left and right swapped"),
        ])
    func adaptation(channels: Int, json: String, words: String) throws {
        let device = #"{"name":"hw:0","sampleFormat":"S16_LE","channels":\#(channels),"adaptation":\#(json)}"#
        #expect(try lines(#"{"state":"playing","device":\#(device)}"#).contains { $0.hasSuffix(", \(words)") })
    }

    @Test("Nothing is said of a file that does not wait, and the seconds of a stream are whole ones")
    func buffered() throws {
        let file = try lines(#"{"state":"playing","file":"/a.flac","buffered":null,"wait":null}"#)
        #expect(file == ["state     playing", "title     a.flac"])
        let stream = try lines(#"{"state":"playing","file":"tonearm:track/1","buffered":12.9,"wait":null}"#)
        #expect(stream.contains("buffered  12 s"))
    }
}
