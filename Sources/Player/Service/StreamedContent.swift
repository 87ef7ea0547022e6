import Media
import Network
import Platform

/// Opens the content that a playbackinfo names.
///
/// Thread: the decoder thread; blocks until the audio's format is known.
struct StreamedContent {
    /// A playlist may name playlists, and these name segments.
    private static let deepestPlaylist = 2

    private let requests: ServiceRequests
    private let settings: ServiceSettings
    private let asksForNew: Bool

    /// - Parameter asksForNew: playlists do not come from a cache: the addresses in them have been refused.
    init(_ requests: ServiceRequests, _ settings: ServiceSettings, asksForNew: Bool) {
        self.requests = requests
        self.settings = settings
        self.asksForNew = asksForNew
    }

    func open(_ info: PlaybackInfo) throws(MediaError) -> any AudioDecoder {
        let (representation, keys) = try resolve(info)
        switch representation.segments {
        case .file(let file):
            let bytes = StreamedBytes(
                .content(file.url), over: requests.network, readAhead: settings.readAhead,
                progress: requests.medium.stream)
            let decoder = try AudioFile.open(
                MediumByteSource(bytes, requests.medium), licenses: keys.licenses, cancellation: requests.cancellation)
            bytes.seconds = decoder.properties.duration
            return decoder
        case .list(let list): return try open(list, keys)
        case .template(let template): return try open(template, keys)
        case .playlist: preconditionFailure("StreamedContent: a playlist that was not followed")
        }
    }

    /// Finds where the content is, through all playlists: `.file`, `.list`, or `.template`.
    func resolve(_ info: PlaybackInfo) throws(MediaError) -> (Representation, StreamedKeys) {
        let keys = StreamedKeys(requests, licenseURL: info.licenseURL)
        var manifest = try manifest(info.manifest, info.manifestType.format, from: "")
        for _ in 0...Self.deepestPlaylist {
            let representation = try representation(of: manifest)
            guard case .playlist(let url) = representation.segments else {
                try keys.take(representation)
                return (representation, keys)
            }
            manifest = try playlist(at: url)
        }
        throw .damaged(what: "playlists that name each other")
    }

    private func playlist(at url: String) throws(MediaError) -> Manifest {
        var request = TransferRequest.content(url)
        if asksForNew { request.headers.append(HeaderField("Cache-Control", "no-cache")) }
        let answer: WholeAnswer.Content
        do throws(ResourceFailure) { answer = try requests.answer(to: request) } catch {
            throw .source(error.byteSourceError)
        }
        return try manifest(answer.body, .hls, from: answer.url)
    }

    private func manifest(
        _ bytes: [UInt8], _ format: ManifestFormat, from url: String
    ) throws(MediaError) -> Manifest {
        do throws(ManifestError) { return try Manifest(bytes, format: format, url: url) } catch {
            switch error {
            case .malformed(let what): throw .damaged(what: what)
            case .unsupported(let what): throw .unsupported(what: what)
            }
        }
    }

    private func open(
        _ segments: some SegmentReferences, _ keys: StreamedKeys
    ) throws(MediaError) -> any AudioDecoder {
        let source: StreamedSegments
        do throws(ByteSourceError) {
            source = try StreamedSegments(
                segments, over: requests.network, medium: requests.medium, readAhead: settings.readAhead, keys: keys)
        } catch {
            throw .source(error)
        }
        return try AudioFile.open(source, licenses: keys.licenses, cancellation: requests.cancellation)
    }

    /// The best one: the service has chosen the quality already.
    private func representation(of manifest: Manifest) throws(MediaError) -> Representation {
        if manifest.isLive { throw .unsupported(what: "live content") }
        guard let period = manifest.periods.first, manifest.periods.count == 1 else {
            throw .unsupported(what: "content in several periods")
        }
        let all = period.adaptationSets.first?.representations ?? []
        guard let best = all.max(by: { ($0.bandwidth ?? 0) < ($1.bandwidth ?? 0) }) else {
            throw .damaged(what: "a manifest without audio")
        }
        return best
    }
}

extension PlaybackInfo.ManifestType {
    fileprivate var format: ManifestFormat {
        switch self {
        case .bts: .bts
        case .emu: .emu
        case .dash: .dash
        case .hls: .hls
        }
    }
}
