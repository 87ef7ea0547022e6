import Media
import PCM

@testable import Player

/// What a content service answers.
let playerTargets = [
    FuzzTarget("login-answer") { bytes in
        if let code = DeviceCodeAnswer(parsing: bytes) {
            require((1...300).contains(code.interval) && (1...86_400).contains(code.life), "times out of range")
        }
        if let tokens = LoginTokens(parsing: bytes, previous: "r") {
            require(tokens.access.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }, "a token that ends a header")
        }
        _ = LoginErrorAnswer(status: 400, body: bytes)
    },
    FuzzTarget("playbackinfo") { bytes in
        for type in [ProductType.track, .video] {
            guard let info = try? PlaybackInfo(parsing: bytes, type) else { continue }
            require(!info.productId.utf8.isEmpty && !info.manifest.isEmpty, "an answer without a product")
            require(!info.fingerprint.isEmpty, "content without a fingerprint")
            for mode in [LoudnessNormalizationMode.track, .album] {
                let factor = Loudness.factor(mode: mode, preAmp: 4, replayGain: info.replayGain)
                require(factor >= 0, "the factor \(factor)")
                _ = Gain(factor: factor)
            }
            let format: ManifestFormat =
                switch info.manifestType {
                case .bts: .bts
                case .emu: .emu
                case .dash: .dash
                case .hls: .hls
                }
            guard let manifest = try? Manifest(info.manifest, format: format, url: "") else { continue }
            require(!manifest.periods.isEmpty, "a manifest without a period")
        }
        for status in [400, 401, 404, 429, 503] {
            let refusal = ServiceRefusal(status: status, body: bytes)
            _ = refusal.kind
            require(!refusal.reason.utf8.isEmpty, "a refusal without a reason")
        }
    },
    FuzzTarget("content-layout") { bytes in
        guard let manifest = try? Manifest(bytes, format: .dash, url: "https://h/a/b"),
            let layout = try? ContentLayout(manifest, quality: "LOSSLESS")
        else { return }
        require(!layout.parts.isEmpty, "content without a part")
        for part in layout.parts { require(!part.representations.isEmpty, "a part without an encoding") }
    },
    FuzzTarget("catalogue") { bytes in
        guard let matches = CatalogueMatches(parsing: bytes) else { return }
        require(matches.trackCount >= matches.tracks.count, "fewer tracks than there are")
        for track in matches.tracks { require(ServiceAddress(track.address) != nil, "no address: \(track.id)") }
        for group in matches.groups { require(CatalogueList(group.list.text) == group.list, "\(group.list.text)") }
    },
]
