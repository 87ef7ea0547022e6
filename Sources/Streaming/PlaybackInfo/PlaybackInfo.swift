import Crypto
import Manifests
import Media
import PCM
import Platform
import Playback

/// The service's answer about a product: the product to play, and the manifest with the addresses of its content
/// (docs/service.md).
///
/// The product, its quality and its presentation may differ from the requested ones: a replacement.
package struct PlaybackInfo: Equatable, Sendable {
    /// Why an answer is unusable.
    struct Malformed: Error, Equatable {
        /// The field, or `PlayerError.Cause.noAnswer`.
        var field: String
    }

    package var productId: String
    var streamType = StreamType.onDemand
    package var assetPresentation: AssetPresentation
    /// The audio mode of a track.
    package var audioMode: AudioMode?
    /// The quality of a track.
    package var audioQuality: AudioQuality?
    /// The quality of a video.
    package var videoQuality: VideoQuality?
    /// The service's id of the session; nil when the answer does not repeat it.
    var streamingSessionId: String?
    /// Present when the content needs a license.
    package var licenseSecurityToken: String?
    /// The address of a license server for ClearKey.
    package var licenseURL: String?
    var manifestType: ManifestType
    /// Two answers with the same hash have the same content.
    var manifestHash: String?
    var manifest: [UInt8]
    package var replayGain = ReplayGain()
    /// When the offline copy must be re-validated, in seconds since 1970; only in an answer for a download.
    package var offlineRevalidateAt: Int64?
    /// Until when the offline copy is valid, in seconds since 1970; nil without limit. Only in an answer for a
    /// download.
    package var offlineValidUntil: Int64?
    /// The sample rate in Hz.
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
    /// Reads an answer. Unknown fields are ignored.
    /// - Parameter type: the type of the requested product.
    init(parsing body: [UInt8], _ type: ProductType) throws(Malformed) {
        let json: JSONValue
        do throws(JSONError) { json = try JSONValue.parseForeign(body) } catch {
            throw Malformed(field: PlayerError.Cause.noAnswer)
        }
        // An answer of the service has both fields: this one comes from another program.
        if json["manifest"] == nil, json["manifestMimeType"] == nil {
            throw Malformed(field: PlayerError.Cause.noAnswer)
        }
        switch type {
        case .track:
            productId = try Self.id(json, "trackId")
            // An unknown mode does not prevent playback.
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
        // An empty id counts as none.
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

    /// Returns an id: a number, as this service writes it, or a name, as other implementations may.
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
    /// A value that is equal for equal content: the service's hash of the manifest, or else one that is computed here.
    package var fingerprint: [UInt8] {
        if let manifestHash, !manifestHash.utf8.isEmpty { return Array(manifestHash.utf8) }
        // SHA-256 fails only without memory; the content then counts as changed.
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

extension PlayerError {
    /// The content service sent something that is not playbackinfo.
    init(_ error: PlaybackInfo.Malformed, _ product: MediaProduct) {
        let message =
            "\(product.productId): the service's answer is not usable: '\(error.field)' is missing or wrong. Is "
            + "[service] url the address of a content service?"
        self.init(.unexpected, .answer(field: error.field), message: message, mediaProduct: product)
    }
}
