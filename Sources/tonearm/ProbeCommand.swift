import Media
import PCM
import Platform
import Player

/// `tonearm probe`: the properties of a file, from its headers and tags.
struct ProbeCommand {
    private let paths: [String]
    private let json: Bool
    private let console = Console()
    private let source = LocalFiles()

    init(_ words: [String]) throws(UsageError) {
        let arguments = try Arguments(parsing: words, knowing: [.init("--json")])
        json = arguments.has("--json")
        paths = arguments.operands
        if paths.isEmpty { throw UsageError("nothing to look at. Name files or folders: `tonearm probe FILE`.") }
    }

    func run() -> Int32 {
        let selection = MusicSelection(paths)
        for problem in selection.problems { report(problem.path, problem.code, problem.message) }
        var hasFailed = !selection.problems.isEmpty
        var isFirst = true
        for file in selection.files {
            do throws(PlayerError) {
                let description = FileDescription(file, try open(file))
                if !json, !isFirst { console.print("") }
                let isRead = console.print(json ? description.value.serialized() : description.text)
                if !isRead { return ExitCode.failed }
                isFirst = false
            } catch {
                report(file, error.code, error.message)
                hasFailed = true
            }
        }
        return hasFailed ? ExitCode.failed : ExitCode.fine
    }

    private func report(_ file: String, _ code: String, _ message: String) {
        console.complain(message)
        if json { console.print(JSONMessages.error(file: file, code: code, message: message).serialized()) }
    }

    private func open(_ file: String) throws(PlayerError) -> any AudioDecoder {
        let product = MediaProduct(productType: .track, productId: file, referenceId: file)
        let cancellation: Cancellation
        do throws(SystemError) { cancellation = try Cancellation() } catch {
            throw PlayerError(error)
        }
        return try source.open(
            product, session: PlaybackSession(), cancellation: cancellation, medium: MediumAccess()
        ).decoder
    }
}

/// The description of a file.
struct FileDescription {
    private let file: String
    private let properties: AudioProperties
    private let metadata: TrackMetadata

    init(_ file: String, _ decoder: any AudioDecoder) {
        self.file = file
        properties = decoder.properties
        metadata = decoder.metadata
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
        add("track", metadata.trackNumber.map { "\($0)" })
        add("disc", metadata.discNumber.map { "\($0)" })
        add("track gain", gain(metadata.replayGain.trackGain, metadata.replayGain.trackPeak))
        add("album gain", gain(metadata.replayGain.albumGain, metadata.replayGain.albumPeak))
        add("picture", metadata.picture.map(place))
        return lines.joined(separator: "\n")
    }

    private var length: String {
        guard let frames = properties.frameCount, let seconds = properties.duration else { return "unknown" }
        let milliseconds = Int64((min(seconds, 1e12) * 1000).rounded())
        let fraction = "\(1000 + milliseconds % 1000)".dropFirst()
        return "\(StatusLine.clock(Double(milliseconds / 1000))).\(fraction) (\(frames) frames)"
    }

    private func place(_ picture: TagPicture) -> String {
        let mediaType = picture.mediaType.map { ", \($0)" } ?? ""
        return "\(picture.length) bytes at \(picture.offset)\(mediaType)"
    }

    private func gain(_ decibels: Double?, _ peak: Double?) -> String? {
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
            "album": JSONValue(metadata.album), "track": JSONValue(metadata.trackNumber),
            "disc": JSONValue(metadata.discNumber), "trackGain": JSONValue(replayGain.trackGain),
            "trackPeak": JSONValue(replayGain.trackPeak), "albumGain": JSONValue(replayGain.albumGain),
            "albumPeak": JSONValue(replayGain.albumPeak), "picture": picture,
        ]
    }

    /// Where the bytes of a picture are in the file.
    private var picture: JSONValue {
        guard let picture = metadata.picture else { return .null }
        return [
            "offset": .integer(picture.offset), "length": .integer(picture.length),
            "mediaType": JSONValue(picture.mediaType),
        ]
    }
}
