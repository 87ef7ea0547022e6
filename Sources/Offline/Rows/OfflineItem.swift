import Database
import PCM
import Platform
import Playback
import Streaming

/// An offline copy: the request, the product that the service delivered, and its file.
package struct OfflineItem: Equatable, Sendable {
    /// The requested product; the key of the row.
    var product: ServiceAddress
    var referenceId: String
    var request: OfflineRequest
    var received: Received
    /// A fingerprint that is equal for equal content.
    var fingerprint: [UInt8]
    /// The name of the file: 16 random bytes.
    var content: [UInt8]
    /// The key of the file, sealed with the device's key.
    var sealedKey: [UInt8]
    /// The keys of encrypted content, sealed with the device's key; nil when there are none.
    var sealedLicense: [UInt8]?
    /// The size of the content, in bytes.
    var count: Int64
    var validity: OfflineValidity
    /// Whether a part of it was found to be missing or changed.
    var isDamaged = false
    /// Whether the appliance chose the product, and may remove the copy.
    var isAutomatic = false

    /// The product that the service delivered, which may differ from the requested one.
    struct Received: Equatable, Sendable {
        var product: ServiceAddress
        var assetPresentation: AssetPresentation
        var audioMode: AudioMode?
        var audioQuality: AudioQuality?
        var videoQuality: VideoQuality?
        var replayGain: ReplayGain
        var title: String?
        var artist: String?
        /// At least one.
        var parts = [OfflineCopyPart.whole]
    }
}

extension OfflineItem.Received {
    init(_ info: PlaybackInfo, _ type: ProductType) {
        self.init(
            product: ServiceAddress(type, info.productId), assetPresentation: info.assetPresentation,
            audioMode: info.audioMode, audioQuality: info.audioQuality, videoQuality: info.videoQuality,
            replayGain: info.replayGain)
    }

    /// The form in the database: JSON with short names.
    var text: String {
        var json = JSONValue.object([.init("id", .string(product.text))])
        json["presentation"] = .string(assetPresentation.serviceName)
        json["mode"] = audioMode.map { .string($0.serviceName) }
        json["quality"] = audioQuality.map { .string($0.serviceName) }
        json["video"] = videoQuality.map { .string($0.serviceName) }
        json["trackGain"] = replayGain.trackGain.map { .real($0) }
        json["trackPeak"] = replayGain.trackPeak.map { .real($0) }
        json["albumGain"] = replayGain.albumGain.map { .real($0) }
        json["albumPeak"] = replayGain.albumPeak.map { .real($0) }
        json["title"] = title.map { .string($0) }
        json["artist"] = artist.map { .string($0) }
        if parts != [.whole] { json["parts"] = parts.json }
        return json.serialized()
    }

    /// Returns nil for a text in another form.
    init?(_ text: String) {
        guard let json = try? JSONValue.parse(Array(text.utf8)),
            let product = json["id"]?.string.flatMap({ ServiceAddress($0) }),
            let presentation = json["presentation"]?.string.flatMap({ AssetPresentation(serviceName: $0) }),
            let parts = json["parts"].map({ [OfflineCopyPart]($0) }) ?? [.whole]
        else { return nil }
        self.init(
            product: product, assetPresentation: presentation,
            audioMode: json["mode"]?.string.flatMap { AudioMode(serviceName: $0) },
            audioQuality: json["quality"]?.string.flatMap { AudioQuality(serviceName: $0) },
            videoQuality: json["video"]?.string.flatMap { VideoQuality(serviceName: $0) },
            replayGain: ReplayGain(
                trackGain: json["trackGain"]?.number, trackPeak: json["trackPeak"]?.number,
                albumGain: json["albumGain"]?.number, albumPeak: json["albumPeak"]?.number),
            title: json["title"]?.string, artist: json["artist"]?.string, parts: parts)
    }
}

extension OfflineItem {
    /// Reads the columns of `OfflineQueries.itemColumns`; nil for a damaged row.
    init?(_ row: borrowing Statement) {
        guard let product = row.text(0).flatMap({ ServiceAddress($0) }), let reference = row.text(1),
            let request = row.text(2).flatMap({ OfflineRequest($0) }),
            let received = row.text(3).flatMap({ Received($0) }), let fingerprint = row.bytes(4),
            let content = row.bytes(5), content.count == 16, let key = row.bytes(6)
        else { return nil }
        self.init(
            product: product, referenceId: reference, request: request, received: received, fingerprint: fingerprint,
            content: content, sealedKey: key, sealedLicense: row.bytes(7),
            count: OfflineSize.counted(row.integer(8) ?? 0),
            validity: OfflineValidity(revalidateAt: row.integer(9), validUntil: row.integer(10)),
            isDamaged: row.integer(11) != 0, isAutomatic: row.integer(12) == 1)
    }
}
