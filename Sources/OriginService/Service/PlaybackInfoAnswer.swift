import Crypto
import Library
import Platform

extension ServiceRoutes {
    /// Returns the fields of docs/service.md, "Playbackinfo".
    func playbackInfo(
        _ track: Track, _ content: TrackContents.Content, _ manifest: ServedManifest, _ addresses: ContentAddresses,
        sessionId: String?, isOffline: Bool
    ) -> JSONValue {
        let format = content.segmented?.track.format ?? track.format
        var json: JSONValue = [
            "trackId": .integer(track.id), "assetPresentation": "FULL", "audioMode": "STEREO",
            "audioQuality": .string(content.quality?.serviceName ?? track.audioQuality),
            "manifestMimeType": .string(manifest.kind.mimeType),
            "manifestHash": .string(Self.hash(of: track, addresses.prefix, manifest.kind)),
            "manifest": .string(base64(Array(manifest.text.utf8))),
            "sampleRate": .integer(Int64(format.sampleRate)), "bitDepth": .integer(Int64(format.bitDepth)),
        ]
        if let sessionId { json["streamingSessionId"] = .string(sessionId) }
        if content.segmented?.track.encryption != nil {
            json["licenseSecurityToken"] = .string(addresses.signature)
            json["licenseUrl"] = .string(addresses.license)
        }
        let gain = track.replayGain
        for (name, value) in [
            ("trackReplayGain", gain.trackGain), ("trackPeakAmplitude", gain.trackPeak),
            ("albumReplayGain", gain.albumGain), ("albumPeakAmplitude", gain.albumPeak),
        ] {
            if let value { json[name] = .real(value) }
        }
        if isOffline {
            json["offlineRevalidateAt"] = .integer(now() + settings.offlineRevalidation)
            json["offlineValidUntil"] = .integer(now() + settings.offlineValidity)
        }
        return json
    }

    /// Returns a hash of the content, which does not depend on addresses and their signatures.
    private static func hash(of track: Track, _ prefix: String, _ kind: ServedManifest.Kind) -> String {
        guard let hash = try? SHA256.hash(Array("\(track.id)/\(track.version)/\(prefix)\(kind.rawValue)".utf8)) else {
            preconditionFailure("SHA-256 without memory")
        }
        return base64(hash)
    }
}
