import Account
import Fetching
import Manifests
import Media
import Network
import Platform
import Playback

/// Opens the content of a playbackinfo (docs/decisions/streaming.md).
///
/// Thread: the decoder thread; blocks until the audio's format is known.
package struct StreamedContent {
    private let requests: ServiceRequests
    private let settings: ServiceSettings
    private let asksForNew: Bool
    private let asksForNewContent: Bool
    private let throughput: Throughput

    /// - Parameters:
    ///   - asksForNew: whether playlists bypass the cache, because their addresses were refused.
    ///   - asksForNewContent: whether content bypasses the cache too, because it did not match the manifest.
    ///   - throughput: receives measurements, and guides the choice of representations.
    package init(
        _ requests: ServiceRequests, _ settings: ServiceSettings, asksForNew: Bool, asksForNewContent: Bool = false,
        throughput: Throughput = Throughput()
    ) {
        self.requests = requests
        self.settings = settings
        self.asksForNew = asksForNew
        self.asksForNewContent = asksForNewContent
        self.throughput = throughput
    }

    /// Content that can be decoded.
    struct Opened {
        var decoder: any AudioDecoder
        var transfers: any ContentTransfers
        /// Whether the content begins with another frame each time it is opened.
        var isLive = false
    }

    func open(_ info: PlaybackInfo) throws(MediaError) -> Opened {
        let quality = info.audioQuality?.serviceName
        let (manifest, url) = try loading.followed(
            try loading.manifest(info.manifest, info.manifestType.format, from: "", quality), quality)
        if let live = manifest.live { return try open(live, of: manifest, at: url, info) }
        let (ready, files) = try loading.indexed(manifest, quality: quality)
        let layout = try ContentLayout(ready, later: files, quality: quality)
        let keys: () -> StreamedKeys = { self.keys(of: info) }
        let later = layout.later.map { loading.later($0, quality) }
        guard layout.parts.count > 1 else {
            let content = try prepare(0, of: layout, later, keys)
            return Opened(decoder: try content.open(), transfers: content)
        }
        let durations = layout.parts.map { $0.duration }
        let joined = try JoinedDecoder(durations: durations) { (index) throws(MediaError) in
            try prepare(index, of: layout, later, keys)
        }
        return Opened(decoder: joined, transfers: joined)
    }

    /// Opens live content, which grows while it is played.
    /// - Parameter url: the address of its playlist; nil when the playlist was in the playbackinfo.
    private func open(
        _ live: LivePresentation, of manifest: Manifest, at url: String?, _ info: PlaybackInfo
    ) throws(MediaError) -> Opened {
        let representation: Representation
        let playlist: LivePlaylist
        if info.manifestType.format == .dash {
            (representation, playlist) = try liveManifest(manifest, info)
        } else {
            (representation, playlist) = try livePlaylist(live, of: manifest, at: url, info)
        }
        var fetching = fetching
        fetching.bases = representation.bases
        let decoder = LiveDecoder(playlist, requests) { [fetching] (part) throws(MediaError) in
            let keys = keys(of: info)
            try keys.take(representation.parts([part.list])[0])
            let retries = LiveRetries(targetDuration: playlist.targetDuration, clock: throughput.clock)
            return LiveDecoder.Content(segments: LiveSegments(part, fetching, retries, keys), licenses: keys.licenses)
        }
        try decoder.open()
        return Opened(decoder: decoder, transfers: decoder, isLive: true)
    }

    private func livePlaylist(
        _ live: LivePresentation, of manifest: Manifest, at url: String?, _ info: PlaybackInfo
    ) throws(MediaError) -> (Representation, LivePlaylist) {
        guard let url, let best = manifest.best(quality: info.audioQuality?.serviceName),
            case .list(let list) = best.segments, !list.segments.isEmpty
        else {
            throw .unsupported(what: "live content that is no playlist of HLS with an address")
        }
        guard list.gaps.count < list.segments.count else { throw .unsupported(what: "a live playlist of gaps") }
        let target = live.updatePeriod ?? 0
        let playlist = LivePlaylist(
            list, .playlist, interval: target, delay: LivePlaylist.delay * target, url: url,
            bases: best.bases, requests, clock: throughput.clock)
        return (best, playlist)
    }

    /// A manifest in a playbackinfo has no address except its own `Location`.
    private func liveManifest(
        _ manifest: Manifest, _ info: PlaybackInfo
    ) throws(MediaError) -> (Representation, LivePlaylist) {
        guard let representation = LiveRepresentation(manifest, quality: info.audioQuality?.serviceName),
            let state = representation.state(in: manifest), let url = state.location, !state.list.segments.isEmpty
        else {
            throw .unsupported(
                what: "live content of DASH without Location, minimumUpdatePeriod or a list of its segments")
        }
        let playlist = LivePlaylist(
            state.list, .manifest(representation), interval: state.interval, targetDuration: state.longest,
            delay: state.delay,
            url: url, bases: state.representation.bases, requests, clock: throughput.clock)
        return (state.representation, playlist)
    }

    private var loading: ManifestLoading {
        ManifestLoading(requests: requests, asksForNew: asksForNew, throughput: throughput)
    }

    private var fetching: StreamedSegments.Fetching {
        StreamedSegments.Fetching(
            network: requests.network, medium: requests.medium, throughput: throughput, readAhead: settings.readAhead,
            asksForNew: asksForNewContent, isRenewed: asksForNew, space: requests.space, failed: requests.failed)
    }

    private func keys(of info: PlaybackInfo) -> StreamedKeys {
        let provider = settings.licenses?(
            LicenseContext(
                productId: info.productId, streamingSessionId: info.streamingSessionId ?? "",
                licenseURL: info.licenseURL, securityToken: info.licenseSecurityToken))
        return StreamedKeys(requests, licenseURL: info.licenseURL, provider: provider)
    }

    /// Begins the transfers of a part.
    private func prepare(
        _ index: Int, of layout: ContentLayout, _ later: [LaterPlaylist], _ keys: @escaping () -> StreamedKeys
    ) throws(MediaError) -> FirstRepresentation {
        let (part, requests, throughput) = (layout.parts[index], requests, throughput)
        func content(_ representation: Representation, _ patience: Patience) throws(MediaError) -> PreparedContent {
            var fetching = fetching
            fetching.space = fetching.space?.part(index)
            fetching.patience = patience
            return try PreparedContent(representation, clip: nil, fetching, requests, keys())
        }
        var choices = part.representations.map { representation in
            (
                representation,
                AdaptiveSteering.Candidate(
                    bandwidth: representation.bandwidth ?? 0, needsLead: !representation.isFLAC,
                    isInReach: loading.reach(of: representation)
                ) { (patience) throws(MediaError) in try content(representation, patience) }
            )
        }
        choices += later.map { later in
            (
                later.representation,
                AdaptiveSteering.Candidate(
                    bandwidth: later.representation.bandwidth ?? 0, needsLead: !later.representation.isFLAC,
                    isReady: { later.part(index, of: layout) != nil },
                    isInReach: loading.reach(of: later.representation),
                    load: later.prepare
                ) { (patience) throws(MediaError) in
                    try later.load(patience)
                    guard let own = later.part(index, of: layout) else {
                        throw .damaged(what: "a playlist that is divided in another way than the others")
                    }
                    return try content(own, patience)
                }
            )
        }
        choices.sort { ($0.0.bandwidth ?? 0) < ($1.0.bandwidth ?? 0) }
        let usable = choices.map { loading.mayPlay($0.0) }
        return try FirstRepresentation(
            choices.map { $0.1 }, preferring: usable, of: part, throughput, requests.medium.stream,
            for: requests.medium.device, mayBeRenewed: !asksForNew)
    }

    /// Finds the addresses of the content, through all playlists, and the keys of each of its parts.
    package func resolve(_ info: PlaybackInfo) throws(MediaError) -> (ContentLayout, [StreamedKeys]) {
        let quality = info.audioQuality?.serviceName
        let (manifest, _) = try loading.followed(
            try loading.manifest(info.manifest, info.manifestType.format, from: "", quality), quality, keepsBest: true)
        if manifest.isLive { throw .unsupported(what: "downloading live content") }
        let layout = try ContentLayout(manifest, quality: quality)
        var keys: [StreamedKeys] = []
        for part in layout.parts {
            let own = self.keys(of: info)
            if let best = part.representations.last { try own.take(best) }
            keys.append(own)
        }
        return (layout, keys)
    }
}

extension Representation {
    /// Whether each packet is decoded without the previous one, as far as the manifest shows.
    fileprivate var isFLAC: Bool {
        codecs.first.map { codec in
            codec.utf8.count == 4 && zip(codec.utf8, "flac".utf8).allSatisfy { $0.lowercased == $1 }
        } ?? false
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
