import Media
import PCM
import Platform

/// The description of a file, as `tonearm probe` prints it.
struct FileDescription {
    private let file: String
    private let properties: AudioProperties
    private let metadata: TrackMetadata
    /// The path of a picture beside the file.
    private let cover: String?

    init(_ file: String, _ decoder: any AudioDecoder, cover: String?) {
        self.file = file
        properties = decoder.properties
        metadata = decoder.metadata
        self.cover = cover
    }

    // MARK: For people

    var text: String {
        let format = properties.format
        var lines = [DisplayText.visible(file)]
        func add(_ name: String, _ value: String?) {
            guard let value else { return }
            let blanks = String(repeating: " ", count: 13 - name.utf8.count)
            lines.append("  \(name)\(blanks)\(DisplayText.visible(value))")
        }
        add("container", properties.container.rawValue)
        add("codec", properties.codec.rawValue)
        add("format", "\(format.sampleRate) Hz, \(format.bitDepth) bit, \(ChannelName.of(format.channelCount))")
        add("length", length)
        add("bit rate", properties.bitRate.map { "\(($0 + 500) / 1000) kbit/s" })
        add("title", metadata.title)
        add("artist", metadata.artist)
        add("album", metadata.album)
        add("album artist", metadata.albumArtist)
        add("track", ordinal(.trackNumber, of: .trackTotal))
        add("disc", ordinal(.discNumber, of: .discTotal))
        add("date", metadata[.date].first)
        add("genre", metadata.joined(.genre))
        add("composer", metadata.joined(.composer))
        for (name, field) in Self.identifiers {
            add("MusicBrainz", metadata.joined(field).map { "\(name) \($0)" })
        }
        add("track gain", Self.gain(metadata.replayGain.trackGain, metadata.replayGain.trackPeak))
        add("album gain", Self.gain(metadata.replayGain.albumGain, metadata.replayGain.albumPeak))
        for picture in metadata.pictures { add("picture", place(picture)) }
        add("cover file", cover)
        return lines.joined(separator: "\n")
    }

    private static let identifiers: [(name: StaticString, field: TagField)] = [
        ("recording", .recordingID), ("release", .releaseID), ("release group", .releaseGroupID),
        ("artist", .artistID), ("album artist", .albumArtistID),
    ]

    private var length: String {
        guard let frames = properties.frameCount, let seconds = properties.duration else { return "unknown" }
        let milliseconds = Int64((min(seconds, 1e12) * 1000).rounded())
        let fraction = "\(1000 + milliseconds % 1000)".dropFirst()
        return "\(StatusLine.clock(Double(milliseconds / 1000))).\(fraction) (\(frames) frames)"
    }

    private func ordinal(_ field: TagField, of total: TagField) -> String? {
        guard let number = metadata.number(field) else { return nil }
        return metadata.number(total).map { "\(number) of \($0)" } ?? "\(number)"
    }

    private func place(_ picture: TagPicture) -> String {
        var parts = ["\(picture.length) bytes at \(picture.offset)"]
        if let mediaType = picture.mediaType { parts.append(mediaType) }
        parts.append(picture.kind.rawValue)
        if picture.encoding != .plain { parts.append(encoding(of: picture)) }
        if picture.page != nil { parts.append("in pages of Ogg") }
        return parts.joined(separator: ", ")
    }

    private func encoding(of picture: TagPicture) -> String {
        switch picture.encoding {
        case .plain: "plain"
        case .unsynchronised: "unsynchronised"
        case .base64: "base64"
        }
    }

    /// `-7.25 dB, peak 0.980000`; nil when both are unknown.
    static func gain(_ decibels: Double?, _ peak: Double?) -> String? {
        let parts = [decibels.map { "\($0.fixed(2)) dB" }, peak.map { "peak \($0.fixed(6))" }].compactMap { $0 }
        return parts.isEmpty ? nil : parts.joined(separator: ", ")
    }

    // MARK: For programs

    var value: JSONValue {
        let replayGain = metadata.replayGain
        return [
            "file": .string(file), "container": .string(properties.container.rawValue),
            "codec": .string(properties.codec.rawValue),
            "sampleRate": JSONValue(properties.format.sampleRate),
            "bitDepth": JSONValue(properties.format.bitDepth),
            "channels": JSONValue(properties.format.channelCount),
            "frames": properties.frameCount.map { .integer($0) } ?? .null,
            "duration": JSONValue(seconds: properties.duration), "bitRate": JSONValue(properties.bitRate),
            "title": JSONValue(metadata.title), "artist": JSONValue(metadata.artist),
            "album": JSONValue(metadata.album), "albumArtist": JSONValue(metadata.albumArtist),
            "track": JSONValue(metadata.trackNumber), "trackTotal": JSONValue(metadata.number(.trackTotal)),
            "disc": JSONValue(metadata.discNumber), "discTotal": JSONValue(metadata.number(.discTotal)),
            "date": JSONValue(metadata[.date].first), "genres": list(.genre), "composers": list(.composer),
            "musicBrainz": [
                "recording": JSONValue(metadata[.recordingID].first), "release": JSONValue(metadata[.releaseID].first),
                "releaseGroup": JSONValue(metadata[.releaseGroupID].first), "artists": list(.artistID),
                "albumArtists": list(.albumArtistID),
            ],
            "trackGain": JSONValue(replayGain.trackGain), "trackPeak": JSONValue(replayGain.trackPeak),
            "albumGain": JSONValue(replayGain.albumGain), "albumPeak": JSONValue(replayGain.albumPeak),
            "pictures": .array(metadata.pictures.map(value)), "coverFile": JSONValue(cover),
        ]
    }

    private func list(_ field: TagField) -> JSONValue { .array(metadata[field].map { .string($0) }) }

    /// Returns the position of a picture's bytes in the file.
    private func value(_ picture: TagPicture) -> JSONValue {
        var dropped = 0
        if case .base64(let count) = picture.encoding { dropped = count }
        return [
            "offset": .integer(picture.offset), "length": .integer(picture.length),
            "mediaType": JSONValue(picture.mediaType), "kind": .string(picture.kind.rawValue),
            "encoding": .string(encoding(of: picture)), "dropped": JSONValue(dropped),
            "page": picture.page.map { .integer($0) } ?? .null,
        ]
    }
}
