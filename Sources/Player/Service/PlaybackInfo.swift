import Crypto
import Media
import PCM
import Platform

/// The service's answer about a product: what is played, and the manifest that says where its content is
/// (docs/service.md).
///
/// The product, its quality and its presentation may differ from the requested ones: a replacement.
struct PlaybackInfo: Equatable, Sendable {
    /// Why an answer is not usable.
    struct Malformed: Error, Equatable {
        /// In place of a field: the answer is no JSON object, or has no field of a playbackinfo.
        static let noAnswer = "json"

        /// The field, or `noAnswer`.
        var field: String
    }

    var productId: String
    var streamType = StreamType.onDemand
    var assetPresentation: AssetPresentation
    /// Of a track.
    var audioMode: AudioMode?
    /// Of a track.
    var audioQuality: AudioQuality?
    /// Of a video.
    var videoQuality: VideoQuality?
    /// The service's id of the session; nil when it has not repeated it.
    var streamingSessionId: String?
    /// Present when the content needs a license.
    var licenseSecurityToken: String?
    /// A license server that speaks ClearKey.
    var licenseURL: String?
    var manifestType: ManifestType
    /// Two answers with the same hash have the same content.
    var manifestHash: String?
    var manifest: [UInt8]
    var replayGain = ReplayGain()
    /// In seconds since 1970, only of an answer for offlining.
    var offlineRevalidateAt: Int64?
    /// In seconds since 1970, only of an answer for offlining; nil means without limit.
    var offlineValidUntil: Int64?
    /// In Hz.
    var sampleRate: Int?
    var bitDepth: Int?

    /// The media type of a manifest.
    enum ManifestType: String, CaseIterable, Sendable {
        case bts = "application/vnd.tidal.bts"
        case emu = "application/vnd.tidal.emu"
        case dash = "application/dash+xml"
        case hls = "application/vnd.apple.mpegurl"
    }
}

extension PlaybackInfo {
    /// Reads an answer. Unknown fields do not matter.
    /// - Parameter type: of the requested product.
    init(parsing body: [UInt8], _ type: ProductType) throws(Malformed) {
        let json: JSONValue
        do throws(JSONError) { json = try JSONValue.parseForeign(body) } catch {
            throw Malformed(field: Malformed.noAnswer)
        }
        // The service's answers have both: this is another program's.
        if json["manifest"] == nil, json["manifestMimeType"] == nil { throw Malformed(field: Malformed.noAnswer) }
        switch type {
        case .track:
            productId = try Self.id(json, "trackId")
            // A mode that this version does not know plays all the same.
            audioMode = json["audioMode"]?.string.flatMap { AudioMode(serviceName: $0) }
            audioQuality = try Self.word(json, "audioQuality", AudioQuality.init(serviceName:))
        case .video:
            productId = try Self.id(json, "videoId")
            streamType = try Self.word(json, "streamType", StreamType.init(serviceName:))
            videoQuality = try Self.word(json, "videoQuality", VideoQuality.init(serviceName:))
        }
        assetPresentation = try Self.word(json, "assetPresentation", AssetPresentation.init(serviceName:))
        manifestType = try Self.word(json, "manifestMimeType", ManifestType.init(serviceName:))
        guard let text = json["manifest"]?.string, let bytes = Base64.bytes(text.utf8), !bytes.isEmpty else {
            throw Malformed(field: "manifest")
        }
        manifest = bytes
        manifestHash = json["manifestHash"]?.string
        // An empty one is none.
        streamingSessionId = json["streamingSessionId"]?.string.flatMap { $0.utf8.isEmpty ? nil : $0 }
        licenseSecurityToken = json["licenseSecurityToken"]?.string
        licenseURL = json["licenseUrl"]?.string.map { URLReference($0).url }.flatMap { $0.utf8.isEmpty ? nil : $0 }
        replayGain = ReplayGain(
            trackGain: json["trackReplayGain"]?.number, trackPeak: json["trackPeakAmplitude"]?.number,
            albumGain: json["albumReplayGain"]?.number, albumPeak: json["albumPeakAmplitude"]?.number)
        offlineRevalidateAt = json["offlineRevalidateAt"]?.integer
        offlineValidUntil = json["offlineValidUntil"]?.integer
        sampleRate = json["sampleRate"]?.integer.flatMap { Int(exactly: $0) }
        bitDepth = json["bitDepth"]?.integer.flatMap { Int(exactly: $0) }
    }

    /// Numbers, as the service writes them; other implementations may have names.
    private static func id(_ json: JSONValue, _ field: String) throws(Malformed) -> String {
        if let number = json[field]?.integer { return "\(number)" }
        guard let name = json[field]?.string, !name.utf8.isEmpty else { throw Malformed(field: field) }
        return name
    }

    private static func word<Value>(
        _ json: JSONValue, _ field: String, _ value: (String) -> Value?
    ) throws(Malformed) -> Value {
        guard let word = json[field]?.string, let value = value(word) else { throw Malformed(field: field) }
        return value
    }
}

extension PlaybackInfo {
    /// Equal for equal content: the hash of the manifest, as the service says it or, if it does not, counted here.
    var fingerprint: [UInt8] {
        if let manifestHash, !manifestHash.utf8.isEmpty { return Array(manifestHash.utf8) }
        // SHA-256 fails only without memory; the content counts as another one then.
        do throws(CryptoError) { return try SHA256.hash(manifest) } catch { return [] }
    }
}

extension PlaybackInfo.ManifestType {
    init?(serviceName: String) {
        guard let type = Self.allCases.first(where: { $0.rawValue.utf8.elementsEqual(serviceName.utf8) }) else {
            return nil
        }
        self = type
    }
}
