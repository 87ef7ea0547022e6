import PCM
import PlayerTestSupport
import Testing

@testable import Fetching
@testable import Playback
@testable import Player
@testable import Streaming

@Suite("Playbackinfo")
struct PlaybackInfoTests {
    /// An answer as the service sends it, with fields replaced; nil removes one.
    private func answer(_ changes: [String: String?] = [:]) -> [UInt8] {
        var fields: [String: String] = [
            "trackId": "42", "assetPresentation": "\"FULL\"", "audioMode": "\"STEREO\"",
            "audioQuality": "\"LOSSLESS\"", "manifestMimeType": "\"application/vnd.tidal.bts\"",
            "manifestHash": "\"h\"", "manifest": "\"e30=\"", "albumReplayGain": "-9.8",
            "albumPeakAmplitude": "0.999923", "trackReplayGain": "-9", "trackPeakAmplitude": "1.001905",
            "sampleRate": "44100", "bitDepth": "16", "streamingSessionId": "\"s\"", "somethingNew": "[1]",
        ]
        for (name, value) in changes { fields[name] = value }
        return Array(("{" + fields.map { "\"\($0)\": \($1)" }.joined(separator: ",") + "}").utf8)
    }

    @Test("A track's answer")
    func track() throws {
        let info = try PlaybackInfo(parsing: answer(), .track)
        #expect(info.productId == "42")
        #expect(info.assetPresentation == .full && info.audioMode == .stereo && info.audioQuality == .lossless)
        #expect(info.streamType == .onDemand)
        #expect(info.manifestType == .bts && info.manifest == Array("{}".utf8) && info.manifestHash == "h")
        #expect(info.replayGain == ReplayGain(trackGain: -9, trackPeak: 1.001905, albumGain: -9.8, albumPeak: 0.999923))
        #expect(info.sampleRate == 44100 && info.bitDepth == 16)
        #expect(info.streamingSessionId == "s")
        #expect(info.licenseSecurityToken == nil && info.offlineValidUntil == nil)
    }

    @Test("Fields that may be missing, null or empty")
    func optional() throws {
        let names = [
            "manifestHash", "albumReplayGain", "albumPeakAmplitude", "trackReplayGain", "trackPeakAmplitude",
            "sampleRate", "bitDepth", "streamingSessionId",
        ]
        for value in [String?.none, "null"] {
            let changes = Dictionary(uniqueKeysWithValues: names.map { ($0, value) })
            let info = try PlaybackInfo(parsing: answer(changes), .track)
            #expect(info.replayGain == ReplayGain())
            #expect(info.sampleRate == nil && info.bitDepth == nil && info.streamingSessionId == nil)
        }
        #expect(try PlaybackInfo(parsing: answer(["streamingSessionId": "\"\""]), .track).streamingSessionId == nil)
        #expect(try PlaybackInfo(parsing: answer(["trackId": "\"some-name\""]), .track).productId == "some-name")
    }

    @Test("An answer for offlining")
    func offline() throws {
        let info = try PlaybackInfo(
            parsing: answer(["offlineRevalidateAt": "1641113514", "offlineValidUntil": "1641718314"]), .track)
        #expect(info.offlineRevalidateAt == 1_641_113_514)
        #expect(info.offlineValidUntil == 1_641_718_314)
    }

    @Test("A video's answer")
    func video() throws {
        let body = answer([
            "videoId": "7", "streamType": "\"LIVE\"", "videoQuality": "\"MEDIUM\"",
            "manifestMimeType": "\"application/vnd.tidal.emu\"",
        ])
        let info = try PlaybackInfo(parsing: body, .video)
        #expect(info.productId == "7" && info.streamType == .live && info.videoQuality == .medium)
        #expect(info.audioQuality == nil && info.manifestType == .emu)
    }

    @Test(
        "A wrong field is named",
        arguments: [
            ("trackId", String?.none), ("trackId", "1.5"), ("trackId", "\"\""), ("assetPresentation", "\"SOME\""),
            ("audioQuality", "\"BEST\""), ("manifestMimeType", "\"text/plain\""),
            ("manifest", nil), ("manifest", "\"\""), ("manifest", "\"***\""),
        ])
    func malformed(field: String, value: String?) {
        #expect(throws: PlaybackInfo.Malformed(field: field)) {
            try PlaybackInfo(parsing: answer([field: value]), .track)
        }
    }

    @Test(
        "A field that does not matter changes nothing, whatever it holds",
        arguments: ["18446744073709551615", "-1e999", "{\"a\": 1, \"a\": [[]]}", "\"\\u0000\"", "null"])
    func unknownField(value: String) throws {
        let plain = try PlaybackInfo(parsing: answer([:]), .track)
        let text = String(decoding: answer(["future": value]), as: UTF8.self)
        #expect(try PlaybackInfo(parsing: Array("\u{FEFF}\(text)".utf8), .track) == plain)
    }

    @Test("A sound mode that is not known plays", arguments: ["\"SONY_360RA_2\"", "7", nil])
    func unknownMode(value: String?) throws {
        #expect(try PlaybackInfo(parsing: answer(["audioMode": value]), .track).audioMode == nil)
    }

    @Test("Texts that are no JSON", arguments: ["", "<html>", "[]{", "\u{0}"])
    func notJSON(text: String) {
        #expect(throws: PlaybackInfo.Malformed(field: "json")) {
            try PlaybackInfo(parsing: Array(text.utf8), .track)
        }
    }

    @Test("The request")
    func request() {
        var request = PlaybackInfoRequest(
            productType: .track, productId: "4/2 ü", audioQuality: .hiResLossless, mode: .stream,
            streamingSessionId: "session")
        var transfer = request.transfer(baseURL: "https://a/b", clientName: "c", token: "t")
        #expect(
            transfer.url == "https://a/b/v1/tracks/4%2F2%20%C3%BC/playbackinfo?audioquality=HI_RES_LOSSLESS"
                + "&assetpresentation=FULL&playbackmode=STREAM&immersiveaudio=false")
        #expect(transfer.headers.contains { $0.name == "Authorization" && $0.value == "Bearer t" })
        #expect(transfer.headers.contains { $0.name == "x-tidal-streamingsessionid" && $0.value == "session" })
        request.productType = .video
        request.mode = .offline
        transfer = request.transfer(baseURL: "https://a/b", clientName: "c", token: nil)
        #expect(
            transfer.url == "https://a/b/v1/videos/4%2F2%20%C3%BC/playbackinfo?videoquality=HIGH"
                + "&assetpresentation=FULL&playbackmode=OFFLINE")
        #expect(transfer.headers.contains { $0.name == "x-tidal-token" && $0.value == "c" })
        #expect(!transfer.headers.contains { $0.name == "Authorization" })
    }
}

@Suite("Refusals of the service")
struct ServiceRefusalTests {
    @Test(
        "Each reason becomes the error that is specified",
        arguments: [
            (403, 4005, PlayerError.Kind.notAllowed), (403, 4006, .notAllowed),
            (403, 4007, .offliningNotAllowedOnDevice),
            (403, 4010, .monthlyStreamQuotaExceeded), (404, 4020, .notAllowed), (404, 4023, .notAllowed),
            (403, 4027, .notAllowed), (403, 4030, .notAllowed), (403, 4032, .contentNotAvailableInLocation),
            (403, 4033, .contentNotAvailableForSubscription), (403, 4034, .notAllowed),
            (403, 4035, .contentNotAvailableInLocation), (401, 6005, .notAllowed), (401, 11003, .notAllowed),
            (404, nil, .notAllowed), (400, nil, .notAllowed), (418, nil, .notAllowed), (429, nil, .retryable),
            (500, 999, .retryable), (503, nil, .retryable), (599, nil, .retryable), (304, nil, .retryable),
        ] as [(Int, Int?, PlayerError.Kind)])
    func kinds(status: Int, subStatus: Int?, kind: PlayerError.Kind) {
        let reason = subStatus.map { ", \"subStatus\": \($0), \"userMessage\": \"m\"" } ?? ""
        let body = "{\"status\": \(status)\(reason)}"
        let refusal = ServiceRefusal(status: status, body: Array(body.utf8))
        #expect(refusal.kind == kind)
        #expect(refusal.userMessage == (subStatus == nil ? nil : "m"))
        let error = PlayerError(.refused(refusal), MediaProduct(productType: .track, productId: "1", referenceId: "r"))
        #expect(error.isLossOfPrivileges == (subStatus == 4006))
    }

    @Test(
        "A body that is not the service's has no reason, and refuses no product",
        arguments: [
            "", "[", "7", "{}", "{\"subStatus\": \"4032\"}", "{\"status\": 200}", "{\"status\": \"blocked\"}",
            "{\"userMessage\": \"Log in\"}", "<html>", "\u{0}",
        ])
    func bodies(text: String) {
        for status in [301, 302, 400, 401, 403, 404, 407, 410, 451] {
            let refusal = ServiceRefusal(status: status, body: Array(text.utf8))
            #expect(refusal == ServiceRefusal(status: status))
            #expect(refusal.isForeign && refusal.kind == .retryable)
        }
        // These statuses mean the same from any server.
        #expect(!ServiceRefusal(status: 502, body: Array(text.utf8)).isForeign)
        #expect(!ServiceRefusal(status: 429, body: Array(text.utf8)).isForeign)
    }
}
