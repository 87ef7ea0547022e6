import Library
import Platform

/// A manifest in the form for playbackinfo.
struct ServedManifest: Equatable, Sendable {
    typealias Kind = OriginSettings.ManifestKind

    var kind: Kind
    var text: String
}

extension OriginSettings.ManifestKind {
    var mimeType: String {
        switch self {
        case .bts: "application/vnd.tidal.bts"
        case .dash: "application/dash+xml"
        case .hls: "application/vnd.apple.mpegurl"
        case .emu: "application/vnd.tidal.emu"
        }
    }
}

extension ServedManifest {
    /// Returns the manifest of the unchanged file.
    static func bts(_ track: Track, at addresses: ContentAddresses) -> ServedManifest {
        let json: JSONValue = [
            "mimeType": .string(track.mimeType), "codecs": .string(track.codecs), "encryptionType": "NONE",
            "urls": [.string(addresses[track.fileName])],
        ]
        return ServedManifest(kind: .bts, text: json.serialized())
    }

    /// Returns a manifest with the address of the playlist.
    static func emu(at addresses: ContentAddresses) -> ServedManifest {
        let json: JSONValue = [
            "mimeType": .string(Kind.hls.mimeType), "urls": [.string(addresses["playlist.m3u8"])],
        ]
        return ServedManifest(kind: .emu, text: json.serialized())
    }

    /// Returns a media playlist (RFC 8216).
    static func hls(_ content: some SegmentedTrack, at addresses: ContentAddresses) -> ServedManifest {
        let format = content.track.format
        func seconds(_ samples: Int64) -> Double { Double(samples) / Double(format.sampleRate) }
        let longest = content.segments.map { seconds($0.sampleCount) }.max() ?? 0
        let name = content.track.serviceFormat
        var lines = [
            "#EXTM3U", "#EXT-X-VERSION:7", "#EXT-X-TARGETDURATION:\(Int(longest.rounded(.up)))",
            "#EXT-X-MEDIA-SEQUENCE:1", "#EXT-X-PLAYLIST-TYPE:VOD", "#EXT-X-INDEPENDENT-SEGMENTS",
            "#EXT-X-DATERANGE:ID=\"\(name)\",CLASS=\"com.tidal.format\",START-DATE=\"1970-01-01T00:00:00.000Z\","
                + "X-COM-TIDAL-FORMAT=\"\(name)\",X-COM-TIDAL-SAMPLE-RATE=\(format.sampleRate),"
                + "X-COM-TIDAL-SAMPLE-DEPTH=\(format.bitDepth)",
            "#EXT-X-MAP:URI=\"\(addresses["init.mp4"])\"",
        ]
        if let encryption = content.track.encryption {
            lines.append(
                "#EXT-X-KEY:METHOD=SAMPLE-AES,URI=\"\(addresses.license)\",KEYID=0x\(hexadecimal(encryption.keyID)),"
                    + "KEYFORMAT=\"urn:uuid:\(clearKey)\",KEYFORMATVERSIONS=\"1\"")
        }
        for (index, segment) in content.segments.enumerated() {
            lines.append("#EXTINF:\(decimal(seconds(segment.sampleCount), places: 6)),")
            lines.append(addresses["\(index + 1).mp4"])
        }
        lines.append("#EXT-X-ENDLIST")
        return ServedManifest(kind: .hls, text: lines.joined(separator: "\n") + "\n")
    }

    /// Returns a static MPD with one representation (ISO/IEC 23009-1).
    static func dash(_ content: some SegmentedTrack, at addresses: ContentAddresses) -> ServedManifest {
        let format = content.track.format
        let name = content.track.serviceFormat
        func duration(_ samples: Int64) -> String {
            "PT" + decimal(Double(samples) / Double(format.sampleRate), places: 3) + "S"
        }
        let longest = content.segments.map(\.sampleCount).max() ?? 0
        var runs: [(duration: Int64, count: Int)] = []
        for segment in content.segments {
            if let last = runs.last, last.duration == segment.sampleCount {
                runs[runs.count - 1].count += 1
            } else {
                runs.append((segment.sampleCount, 1))
            }
        }
        let timeline = runs.map { run in
            "            <S d=\"\(run.duration)\"" + (run.count > 1 ? " r=\"\(run.count - 1)\"" : "") + "/>"
        }
        let text = """
            <?xml version="1.0" encoding="UTF-8"?>
            <MPD xmlns="urn:mpeg:dash:schema:mpd:2011" profiles="urn:mpeg:dash:profile:isoff-main:2011" \
            type="static" minBufferTime="\(duration(longest))" \
            mediaPresentationDuration="\(duration(content.heardCount))">
              <Period id="0">
                <AdaptationSet id="0" contentType="audio" mimeType="audio/mp4" lang="und" segmentAlignment="true">
            \(protection(content.track.encryption, addresses))\
                  <Representation id="\(name),\(format.sampleRate),\(format.bitDepth)" \
            codecs="\(content.track.codecs)" \
            bandwidth="\(content.peakBitRate)" audioSamplingRate="\(format.sampleRate)">
                    <AudioChannelConfiguration \
            schemeIdUri="urn:mpeg:dash:23003:3:audio_channel_configuration:2011" value="\(format.channelCount)"/>
                    <SegmentTemplate timescale="\(format.sampleRate)" initialization="\(addresses["init.mp4"])" \
            media="\(addresses["$Number$.mp4"])" startNumber="1">
                      <SegmentTimeline>
            \(timeline.joined(separator: "\n"))
                      </SegmentTimeline>
                    </SegmentTemplate>
                  </Representation>
                </AdaptationSet>
              </Period>
            </MPD>

            """
        return ServedManifest(kind: .dash, text: text)
    }

    /// The system of the W3C's ClearKey in manifests (DASH-IF, "Identifiers for content protection").
    private static let clearKey = "e2719d58-a985-b3c9-781a-b030af78d30e"

    /// Returns the lines of an encrypted representation, each with its line end.
    private static func protection(_ encryption: ContentEncryption?, _ addresses: ContentAddresses) -> String {
        guard let encryption else { return "" }
        let id = hexadecimal(encryption.keyID)
        let parts = [(0, 8), (8, 12), (12, 16), (16, 20), (20, 32)].map { id.dropFirst($0).prefix($1 - $0) }
        return """
                  <ContentProtection schemeIdUri="urn:mpeg:dash:mp4protection:2011" value="cbcs" \
            xmlns:cenc="urn:mpeg:cenc:2013" cenc:default_KID="\(parts.joined(separator: "-"))"/>
                  <ContentProtection schemeIdUri="urn:uuid:\(clearKey)" value="ClearKey1.0">
                    <Laurl xmlns="https://dashif.org/CPS">\(addresses.license)</Laurl>
                  </ContentProtection>

            """
    }

    /// Formats a number with a point, in every locale.
    private static func decimal(_ value: Double, places: Int) -> String {
        let scale = (0..<places).reduce(Int64(1)) { scale, _ in scale * 10 }
        let scaled = Int64((value * Double(scale)).rounded())
        let fraction = String(scaled % scale)
        return "\(scaled / scale)." + String(repeating: "0", count: places - fraction.utf8.count) + fraction
    }
}

extension CMAFTrack {
    /// The service's name of the format.
    fileprivate var serviceFormat: String {
        switch codec {
        case .flac: format.bitDepth > 16 || format.sampleRate > 48_000 ? "FLAC_HIRES" : "FLAC"
        case .aac: "AACLC"
        }
    }

    /// The name by RFC 6381.
    fileprivate var codecs: String {
        switch codec {
        case .flac: "flac"
        case .aac: "mp4a.40.2"
        }
    }
}

extension Track {
    /// The name by RFC 6381, or else the codec's own.
    var codecs: String {
        codec == .aac ? "mp4a.40.\(aacObjectType ?? 2)" : codec.rawValue
    }

    /// The MIME type of the unchanged file.
    var mimeType: String { container.mediaType }

    /// The name in the addresses of content.
    var fileName: String { "file.\(container.rawValue)" }
}
