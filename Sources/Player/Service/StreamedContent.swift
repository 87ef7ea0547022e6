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
    private let asksForNewContent: Bool
    private let throughput: Throughput

    /// - Parameters:
    ///   - asksForNew: playlists do not come from a cache: the addresses in them have been refused.
    ///   - asksForNewContent: nor does content: it was not what the manifest names.
    ///   - throughput: is measured, and decides between encodings.
    init(
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
        var transfers: ContentTransfers
        /// Whether its first frame is another one each time that it is opened.
        var isLive = false
    }

    func open(_ info: PlaybackInfo) throws(MediaError) -> Opened {
        let quality = info.audioQuality?.serviceName
        let (manifest, url) = try followed(
            try manifest(info.manifest, info.manifestType.format, from: "", quality), quality)
        if let live = manifest.live { return try open(live, of: manifest, at: url, info) }
        let layout = try ContentLayout(try indexed(manifest, quality: quality), quality: quality)
        let keys: () -> StreamedKeys = { self.keys(of: info) }
        let later = layout.later.map { self.later($0, quality) }
        guard layout.parts.count > 1 else {
            let content = try prepare(0, of: layout, later, keys)
            return Opened(decoder: try content.open(), transfers: content.transfers)
        }
        let durations = layout.parts.map { $0.duration }
        let joined = try JoinedDecoder(durations: durations) { (place) throws(MediaError) in
            try prepare(place, of: layout, later, keys)
        }
        return Opened(
            decoder: joined, transfers: ContentTransfers({ joined.isFetched }, fetchAhead: { joined.fetchAhead() }))
    }

    /// Content that goes on while it is played.
    /// - Parameter url: where its playlist came from; nil when it was in the playbackinfo.
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
        return Opened(
            decoder: decoder, transfers: ContentTransfers({ false }, fetchAhead: decoder.fetchAhead), isLive: true)
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

    /// A manifest in a playbackinfo has no address but the one that it names itself.
    private func liveManifest(
        _ manifest: Manifest, _ info: PlaybackInfo
    ) throws(MediaError) -> (Representation, LivePlaylist) {
        guard let encoding = LiveEncoding(manifest, quality: info.audioQuality?.serviceName),
            let state = encoding.state(in: manifest), let url = state.location, !state.list.segments.isEmpty
        else {
            throw .unsupported(
                what: "live content of DASH without Location, minimumUpdatePeriod or a list of its segments")
        }
        let playlist = LivePlaylist(
            state.list, .manifest(encoding), interval: state.interval, targetDuration: state.longest,
            delay: state.delay,
            url: url, bases: state.representation.bases, requests, clock: throughput.clock)
        return (state.representation, playlist)
    }

    private var fetching: StreamedSegments.Fetching {
        StreamedSegments.Fetching(
            network: requests.network, medium: requests.medium, throughput: throughput, readAhead: settings.readAhead,
            asksForNew: asksForNewContent, space: requests.space, failed: requests.failed)
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
        _ place: Int, of layout: ContentLayout, _ later: [LaterPlaylist], _ keys: @escaping () -> StreamedKeys
    ) throws(MediaError) -> JoinedDecoder.Prepared {
        let (part, requests, throughput) = (layout.parts[place], requests, throughput)
        func content(_ representation: Representation, _ isOptional: Bool) throws(MediaError) -> PreparedContent {
            var fetching = fetching
            fetching.space = fetching.space?.part(place)
            fetching.isOptional = isOptional
            return try PreparedContent(representation, clip: nil, fetching, requests, keys())
        }
        var choices = part.representations.map { representation in
            (
                representation,
                AdaptiveSteering.Encoding(
                    bandwidth: representation.bandwidth ?? 0, needsLead: !representation.isFLAC,
                    isInReach: reach(of: representation)
                ) { (isOptional) throws(MediaError) in try content(representation, isOptional) }
            )
        }
        choices += later.map { later in
            (
                later.representation,
                AdaptiveSteering.Encoding(
                    bandwidth: later.representation.bandwidth ?? 0, needsLead: !later.representation.isFLAC,
                    isReady: { later.part(place, of: layout) != nil },
                    isInReach: reach(of: later.representation),
                    load: later.prepare
                ) { (isOptional) throws(MediaError) in
                    try later.load(isOptional: isOptional)
                    guard let own = later.part(place, of: layout) else {
                        throw .damaged(what: "a playlist that is divided in another way than the others")
                    }
                    return try content(own, isOptional)
                }
            )
        }
        choices.sort { ($0.0.bandwidth ?? 0) < ($1.0.bandwidth ?? 0) }
        let usable = choices.map { choice in
            choice.0.sampleRate.map { requests.medium.stream.mayPlay(rate: $0) } ?? true
        }
        let first = try FirstEncoding(
            choices.map { $0.1 }, preferring: usable, throughput, requests.medium.stream, mayBeRenewed: !asksForNew)
        let open: () throws(MediaError) -> any AudioDecoder = { () throws(MediaError) in
            let opened = try first.open()
            return part.clip.map { ClippedDecoder(opened, $0, mediaStart: part.mediaStart) } ?? opened
        }
        return JoinedDecoder.Prepared(open: open, transfers: first.transfers)
    }

    /// A variant that is not played yet.
    private func later(_ representation: Representation, _ quality: String?) -> LaterPlaylist {
        let url = if case .playlist(let url) = representation.segments { url } else { "" }
        return LaterPlaylist(representation) {
            PlaylistLoad(
                playlistRequest(url, of: representation), at: addresses(url, of: representation, isOptional: true),
                over: requests.network)
        } read: { (answer) throws(MediaError) in
            let inner = try manifest(answer.body, .hls, from: answer.url, quality)
            return try representation.with(inner.best(quality: quality))
        } load: { (isOptional) throws(MediaError) in
            let (inner, _) = try playlist(of: representation, isOptional: isOptional, quality)
            return try representation.with(inner.best(quality: quality))
        }
    }

    /// The same manifest with the playlist of one encoding in place of its address: the one to begin with. One that
    /// cannot be loaded gives way to another. The playlists of the others are loaded later.
    /// - Parameter keepsBest: only the best one is followed, and the others are left out.
    /// - Returns: also where it came from; nil for what was in the playbackinfo.
    private func followed(
        _ manifest: Manifest, _ quality: String?, keepsBest: Bool = false
    ) throws(MediaError) -> (Manifest, url: String?) {
        var manifest = manifest
        var url: String?
        for _ in 0...Self.deepestPlaylist {
            guard let set = manifest.periods.first?.adaptationSets.first,
                set.representations.contains(where: { $0.isPlaylist })
            else { return (manifest, url) }
            let playable = set.encodings(quality: quality)
            switch try follow(playable, quality, keepsBest: keepsBest) {
            case .manifest(let inner, let address): (manifest, url) = (inner, address)
            case .encoding(let encoding, let place, let failed):
                // A master playlist has one period.
                var left =
                    keepsBest
                    ? []
                    : playable.indices.filter { $0 != place && !failed.contains($0) }
                        .map { playable[$0] }
                left.append(encoding)
                manifest.periods[0].adaptationSets[0].representations = left
                return (manifest, url)
            }
        }
        throw .damaged(what: "playlists that name each other")
    }

    /// What is behind the address of an encoding.
    private enum Followed {
        /// - Parameter failed: the places of those that cannot be used.
        case encoding(Representation, place: Int, failed: [Int])
        /// It takes the place of the whole manifest.
        case manifest(Manifest, url: String)
    }

    /// Loads the playlist of the first of some encodings that can be loaded.
    /// - Parameter playable: the lowest bandwidth first.
    private func follow(
        _ playable: [Representation], _ quality: String?, keepsBest: Bool
    ) throws(MediaError) -> Followed {
        var order = Array(playable.indices.reversed())
        if !keepsBest {
            let choice = RepresentationChoice(bandwidths: playable.map { $0.bandwidth ?? 0 })
            let first = choice.first(line: throughput.bitsPerSecond, usable: playable.map { reach(of: $0)() })
            order.removeAll { $0 == first }
            order.insert(first, at: 0)
        }
        var (failure, failed): (MediaError?, [Int]) = (nil, [])
        // Once each, then as long as it takes.
        for isOptional in [true, false] where isOptional == (playable.count > 1 && !keepsBest) || failure != nil {
            for place in order where !failed.contains(place) {
                do throws(MediaError) {
                    let representation = playable[place]
                    guard representation.isPlaylist else {
                        return .encoding(representation, place: place, failed: failed)
                    }
                    let (inner, url) = try playlist(of: representation, isOptional: isOptional, quality)
                    if inner.isLive, !keepsBest, let better = try liveFollowed(playable[(place + 1)...], quality) {
                        return better
                    }
                    if playable.count == 1 || inner.isLive { return .manifest(inner, url: url) }
                    return .encoding(
                        try representation.with(inner.best(quality: quality)), place: place, failed: failed)
                } catch {
                    // What is kept stays as it is, so it waits for the best one.
                    guard error != .source(.cancelled), !keepsBest || !error.isTemporary else { throw error }
                    failure = failure ?? error
                    if !isOptional || !error.isOfAddress { failed.append(place) }
                }
            }
        }
        throw failure ?? .damaged(what: "a manifest without audio")
    }

    /// Live content keeps to the best encoding of which the playlist can be loaded.
    private func liveFollowed(
        _ better: ArraySlice<Representation>, _ quality: String?
    ) throws(MediaError) -> Followed? {
        for representation in better.reversed() where representation.isPlaylist {
            do throws(MediaError) {
                let (inner, url) = try playlist(of: representation, isOptional: true, quality)
                if inner.isLive { return .manifest(inner, url: url) }
            } catch {
                if error == .source(.cancelled) { throw error }
            }
        }
        return nil
    }

    /// A function that says whether some address of it has not failed in this session.
    private func reach(of representation: Representation) -> () -> Bool {
        guard let url = representation.firstAddress else { return { true } }
        let (addresses, failed) = (Alternatives(url, bases: representation.bases).addresses, requests.failed)
        return { addresses.contains { failed.isInReach($0) } }
    }

    /// One encoding that cannot be used does not end the product.
    /// - Parameters:
    ///   - found: those that can be used.
    ///   - failure: why the first of the others cannot; nil without others.
    private static func check(_ found: [Representation], _ failure: MediaError?) throws(MediaError) {
        guard let failure else { return }
        guard !found.isEmpty else { throw failure }
        Log.notice("an encoding of the content is not used: where its segments are cannot be loaded")
    }

    /// The same manifest with the segments of its files, where several files are encodings among which a player may
    /// choose. They are in an index at the beginning of each (`sidx`).
    private func indexed(_ manifest: Manifest, quality: String?) throws(MediaError) -> Manifest {
        // Of several periods each may take another part of the file.
        guard manifest.periods.count == 1, let set = manifest.periods[0].adaptationSets.first else { return manifest }
        let encodings = set.encodings(quality: quality)
        guard encodings.count > 1 else { return manifest }
        var found: [Representation] = []
        var failure: MediaError?
        for encoding in encodings {
            guard case .file(let file) = encoding.segments, file.initialization != nil, file.mediaOffset == 0,
                let range = file.index
            else { return manifest }
            let answer: WholeAnswer.Content
            do throws(ResourceFailure) {
                let index = ResourceReference(url: file.url, range: range)
                answer = try requests.answer(
                    to: .content(index.url, range: index.byteRange, requests.space?.representation(encoding)),
                    at: addresses(file.url, of: encoding, isOptional: true))
            } catch {
                // A server that does not know ranges sends all of it.
                if error == .tooLarge { return manifest }
                if error == .cancelled { throw .source(.cancelled) }
                failure = failure ?? .source(error.byteSourceError)
                continue
            }
            var result = encoding
            // Without its index a file is played as it is.
            do throws(ManifestError) { result.segments = .list(try file.segments(fromIndex: answer.body)) } catch {
                return manifest
            }
            found.append(result)
        }
        try Self.check(found, failure)
        var result = manifest
        result.periods[0].adaptationSets[0].representations = found
        // As of one file.
        result.periods[0].endRounding = nil
        return result
    }

    /// Finds where the content is, through all playlists, and the keys of each of its parts.
    func resolve(_ info: PlaybackInfo) throws(MediaError) -> (ContentLayout, [StreamedKeys]) {
        let quality = info.audioQuality?.serviceName
        let (manifest, _) = try followed(
            try manifest(info.manifest, info.manifestType.format, from: "", quality), quality, keepsBest: true)
        if manifest.isLive { throw .unsupported(what: "keeping live content") }
        let layout = try ContentLayout(manifest, quality: quality)
        var keys: [StreamedKeys] = []
        for part in layout.parts {
            let own = self.keys(of: info)
            if let best = part.representations.last { try own.take(best) }
            keys.append(own)
        }
        return (layout, keys)
    }

    private func playlist(
        of representation: Representation, isOptional: Bool, _ quality: String?
    ) throws(MediaError) -> (manifest: Manifest, url: String) {
        let url = if case .playlist(let url) = representation.segments { url } else { "" }
        let answer: WholeAnswer.Content
        do throws(ResourceFailure) {
            answer = try requests.answer(
                to: playlistRequest(url, of: representation),
                at: addresses(url, of: representation, isOptional: isOptional))
        } catch {
            throw .source(error.byteSourceError)
        }
        var inner = try manifest(answer.body, .hls, from: answer.url, quality)
        // The segments lie beside each of its addresses.
        for period in inner.periods.indices {
            for set in inner.periods[period].adaptationSets.indices {
                for place in inner.periods[period].adaptationSets[set].representations.indices
                where !inner.periods[period].adaptationSets[set].representations[place].isPlaylist {
                    inner.periods[period].adaptationSets[set].representations[place].bases = representation.bases
                }
            }
        }
        return (inner, answer.url)
    }

    private func playlistRequest(_ url: String, of representation: Representation) -> TransferRequest {
        var request = TransferRequest.content(url, requests.space?.representation(representation))
        if asksForNew { request.headers.append(HeaderField("Cache-Control", "no-cache")) }
        return request
    }

    private func addresses(_ url: String, of representation: Representation, isOptional: Bool) -> ResourceAddresses {
        ResourceAddresses(
            Alternatives(url, bases: representation.bases), failed: requests.failed,
            isOptional: isOptional)
    }

    /// - Returns: with its sets in the order in which they are preferred.
    private func manifest(
        _ bytes: [UInt8], _ format: ManifestFormat, from url: String, _ quality: String?
    ) throws(MediaError) -> Manifest {
        do throws(ManifestError) {
            return try Manifest(bytes, format: format, url: url).ordered(quality: quality)
        } catch {
            switch error {
            case .malformed(let what): throw .damaged(what: what)
            case .unsupported(let what): throw .unsupported(what: what)
            }
        }
    }
}

extension Representation {
    /// Of its first segment, its file or its playlist.
    fileprivate var firstAddress: String? {
        switch segments {
        case .file(let file): file.url
        case .list(let list): list.segments.first?.resource.url
        case .template(let template): template.segment(template.timeline().firstIndex)?.resource.url
        case .playlist(let url): url
        }
    }

    /// Whether a packet is decoded without the one before, as far as the manifest says it.
    fileprivate var isFLAC: Bool {
        codecs.first.map { codec in
            codec.utf8.count == 4 && zip(codec.utf8, "flac".utf8).allSatisfy { $0 | 0x20 == $1 }
        } ?? false
    }

    /// - Parameter inner: what its playlist names.
    fileprivate func with(_ inner: Representation?) throws(MediaError) -> Representation {
        guard var result = inner else { throw .damaged(what: "a manifest without audio") }
        result.bandwidth = bandwidth
        result.codecs = codecs
        result.channelCount = channelCount
        result.bases = bases
        return result
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
