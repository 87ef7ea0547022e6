import Output
import PCM
import Platform
import Player
import Testing
@testable import tonearm

@Suite("JSON lines")
struct JSONMessagesTests {
    private static let song = MediaProduct(productType: .track, productId: "a.flac", referenceId: "1")

    private static var context: PlaybackContext {
        var context = PlaybackContext(productId: "a.flac", playbackSessionId: "", referenceId: "1")
        context.title = "One \"two\""
        context.audioCodec = "flac"
        context.audioSampleRate = 44_100
        context.audioBitDepth = 16
        context.duration = 3.14159
        return context
    }

    private static let now = NowPlaying(
        file: "a.flac", context: context, state: .playing, position: 1.23456,
        device: DeviceConfiguration(
            device: "hw:CARD=DAC", sampleRate: 44_100, channelCount: 2, sampleFormat: .s32, significantBits: 24,
            bufferFrames: 8820, periodFrames: 2205, memoryMapped: true),
        path: SignalPath([.rate, .volume]), volume: 100)

    private static let device =
        #"{"name":"hw:CARD=DAC","sampleRate":44100,"channels":2,"sampleFormat":"S32_LE","significantBits":24,"#
        + #""adaptation":null}"#
    private static let path =
        #""path":{"bitPerfect":false,"changes":["rate","volume"],"dsdOverPCM":false,"note":null}"#
    private static let format =
        #"{"codec":"flac","sampleRate":44100,"bitDepth":16,"bitRate":null,"quality":null,"#
        + #""convertedSampleRate":null}"#

    @Test(
        "each message has all of its members, in the documented order",
        arguments: [
            (
                .mediaProductTransition(MediaProductTransition(previous: nil, active: song, context: context)),
                #"{"event":"transition","previous":null,"file":"a.flac","title":"One \"two\"","artist":null,"#
                    + #""album":null,"duration":3.142,"format":\#(format),"device":\#(device),\#(path)}"#
            ),
            (
                .mediaProductTransition(MediaProductTransition(previous: song, active: nil, context: nil)),
                #"{"event":"transition","previous":"a.flac","file":null,"title":null,"artist":null,"#
                    + #""album":null,"duration":null,"format":null,"device":\#(device),\#(path)}"#
            ),
            (
                .playbackStateChanged(.stalled),
                #"{"event":"state","state":"stalled","file":"a.flac","position":1.235,"device":\#(device),\#(path)}"#
            ),
            (
                .playbackQualityChanged(context),
                #"{"event":"quality","file":"a.flac","format":\#(format),"device":\#(device),\#(path)}"#
            ),
            (
                .error(PlayerError(.unexpected, code: "m1", message: "a.flac: not audio.", mediaProduct: song)),
                #"{"event":"error","file":"a.flac","code":"m1","message":"a.flac: not audio."}"#
            ),
            (
                .streamingPrivilegesRevoked(otherDevice: "Kitchen"),
                #"{"event":"error","file":"a.flac","code":"a4006","#
                    + #""message":"Kitchen plays with the same subscription"}"#
            ),
            (
                .streamingPrivilegesRevoked(otherDevice: nil),
                #"{"event":"error","file":"a.flac","code":"a4006","#
                    + #""message":"another device plays with the same subscription"}"#
            ),
        ] as [(PlaybackMessage, String)])
    func lines(message: PlaybackMessage, line: String) {
        #expect(JSONMessages.value(of: message, now: Self.now).serialized() == line)
    }

    @Test("where playback is")
    func position() {
        #expect(
            JSONMessages.position(Self.now).serialized()
                == #"{"event":"position","file":"a.flac","position":1.235,"duration":3.142}"#)
    }
}
