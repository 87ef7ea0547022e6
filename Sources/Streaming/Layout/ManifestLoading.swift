import Fetching
import Manifests
import Media
import Network
import Platform
import Playback

/// Follows a manifest through playlists and indexes to the segments of the first representation. The segments of the
/// others are loaded during playback.
///
/// Thread: the decoder thread; blocks.
struct ManifestLoading {
    /// The maximum depth of playlists: a playlist may name playlists, and these name segments.
    private static let deepestPlaylist = 2

    let requests: ServiceRequests
    /// Whether playlists bypass the cache, because the addresses in the cached ones were refused.
    let asksForNew: Bool
    /// Selects the first representation.
    let throughput: Throughput

    /// Returns the manifest with the playlist of the first representation instead of its address. If that playlist
    /// cannot be loaded, another representation is first. The playlists of the others are loaded later.
    /// - Parameter keepsBest: only the best representation is followed, and the others are left out.
    /// - Returns: also the address of the new manifest; nil when it was in the playbackinfo.
    func followed(
        _ manifest: Manifest, _ quality: String?, keepsBest: Bool = false
    ) throws(MediaError) -> (Manifest, url: String?) {
        var manifest = manifest
        var url: String?
        for _ in 0...Self.deepestPlaylist {
            guard let set = manifest.periods.first?.adaptationSets.first,
                set.representations.contains(where: { $0.isPlaylist })
            else { return (manifest, url) }
            let playable = set.playable(quality: quality)
            switch try follow(playable, quality, keepsBest: keepsBest) {
            case .manifest(let inner, let address): (manifest, url) = (inner, address)
            case .representation(let representation, let place, let failed):
                // A master playlist has one period.
                var left =
                    keepsBest
                    ? []
                    : playable.indices.filter { $0 != place && !failed.contains($0) }
                        .map { playable[$0] }
                left.append(representation)
                manifest.periods[0].adaptationSets[0].representations = left
                return (manifest, url)
            }
        }
        throw .damaged(what: "playlists that name each other")
    }

    /// The resource at the address of a representation.
    private enum Followed {
        /// - Parameter failed: the indices of representations that cannot be used.
        case representation(Representation, place: Int, failed: [Int])
        /// A manifest that replaces the whole outer manifest.
        case manifest(Manifest, url: String)
    }

    /// Loads the playlist of the first representation that can be loaded.
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
        return try reached(order, keepsBest: keepsBest) { (place, patience, failed) throws(MediaError) in
            let representation = playable[place]
            guard representation.isPlaylist else {
                return .representation(representation, place: place, failed: failed)
            }
            let (inner, url) = try playlist(of: representation, patience, quality)
            if inner.isLive, !keepsBest, let better = try liveFollowed(playable[(place + 1)...], quality) {
                return better
            }
            if playable.count == 1 || inner.isLive { return .manifest(inner, url: url) }
            return .representation(try representation.with(inner.best(quality: quality)), place: place, failed: failed)
        }
    }

    /// Loads the resource that one of several representations needs to begin. Each representation is tried once, then
    /// in turn with more patience.
    /// - Parameters:
    ///   - order: the indices of the representations.
    ///   - keepsBest: another representation is tried only when the failure of the first is permanent.
    ///   - load: also gets the indices of the representations that have failed permanently.
    private func reached<Content>(
        _ order: [Int], keepsBest: Bool = false,
        _ load: (_ place: Int, Patience, _ failed: [Int]) throws(MediaError) -> Content
    ) throws(MediaError) -> Content {
        var patience = Patience.first(of: keepsBest ? 1 : order.count)
        var left = order
        var failed: [Int] = []
        var first: MediaError?
        while true {
            var away: [(place: Int, error: MediaError)] = []
            for place in left {
                do throws(MediaError) { return try load(place, patience, failed) } catch {
                    guard error != .source(.cancelled), !keepsBest || !error.isTemporary else { throw error }
                    first = first ?? error
                    if error.isOfAddress { away.append((place, error)) } else { failed.append(place) }
                    Log.notice("a representation of the content is not used: where its segments are cannot be loaded")
                }
            }
            guard let next = patience.next(after: away.map { $0.error }) else {
                throw first ?? .damaged(what: "a manifest without audio")
            }
            (patience, left) = (next, away.map { $0.place })
        }
    }

    /// Loads the best representation whose playlist can be loaded: live content does not switch later.
    private func liveFollowed(
        _ better: ArraySlice<Representation>, _ quality: String?
    ) throws(MediaError) -> Followed? {
        for representation in better.reversed() where representation.isPlaylist {
            do throws(MediaError) {
                let (inner, url) = try playlist(of: representation, .rounds(0), quality)
                if inner.isLive { return .manifest(inner, url: url) }
            } catch {
                if error == .source(.cancelled) { throw error }
            }
        }
        return nil
    }

    /// Returns a function that checks whether any address of the representation has not failed in this session.
    func reach(of representation: Representation) -> () -> Bool {
        guard let url = representation.firstAddress else { return { true } }
        let (addresses, failed) = (Alternatives(url, bases: representation.bases).addresses, requests.failed)
        return { addresses.contains { failed.isInReach($0) } }
    }

    /// Returns the manifest with the segments of the first file, where several files are representations to switch
    /// among. The index at the beginning of each file lists its segments (`sidx`).
    ///
    /// If an index cannot be loaded, another file is first. The indexes of the others are loaded later.
    func indexed(
        _ manifest: Manifest, quality: String?
    ) throws(MediaError) -> (Manifest, later: [Representation]) {
        // With several periods, each may use another section of the file.
        guard manifest.periods.count == 1, let set = manifest.periods[0].adaptationSets.first else {
            return (manifest, [])
        }
        let representations = set.playable(quality: quality)
        guard representations.count > 1, representations.allSatisfy({ $0.indexRequest(requests) != nil }) else {
            return (manifest, [])
        }
        let choice = RepresentationChoice(bandwidths: representations.map { $0.bandwidth ?? 0 })
        let first = choice.first(
            line: throughput.bitsPerSecond, usable: representations.map { mayPlay($0) && reach(of: $0)() })
        let order = [first] + representations.indices.reversed().filter { $0 != first }
        return try reached(order) { (place, patience, failed) throws(MediaError) in
            guard let found = try indexed(representations[place], patience) else { return (manifest, []) }
            var result = manifest
            result.periods[0].adaptationSets[0].representations = [found]
            // As for a single file, the period does not limit its segments.
            result.periods[0].endRounding = nil
            return (
                result,
                representations.indices.filter { $0 != place && !failed.contains($0) }.map { representations[$0] }
            )
        }
    }

    /// Returns a file with the segments of its index.
    /// - Returns: nil for a file to play without an index: the index cannot be read, or the server does not support
    ///   ranges.
    private func indexed(
        _ representation: Representation, _ patience: Patience
    ) throws(MediaError) -> Representation? {
        let answer: WholeAnswer.Content
        do throws(ResourceFailure) { answer = try indexAnswer(of: representation, patience) } catch {
            if error == .tooLarge { return nil }
            throw .source(error.byteSourceError)
        }
        do throws(MediaError) { return try representation.with(index: answer.body) } catch { return nil }
    }

    func mayPlay(_ representation: Representation) -> Bool {
        representation.sampleRate.map { requests.medium.device.mayPlay(rate: $0) } ?? true
    }

    private func indexAnswer(
        of representation: Representation, _ patience: Patience
    ) throws(ResourceFailure) -> WholeAnswer.Content {
        guard let request = representation.indexRequest(requests) else { throw .changed }
        return try requests.answer(to: request, at: addresses(request.url, of: representation, patience))
    }

    /// Returns a variant that is not played yet.
    func later(_ representation: Representation, _ quality: String?) -> LaterPlaylist {
        if let request = representation.indexRequest(requests) { return laterFile(representation, request) }
        let url = if case .playlist(let url) = representation.segments { url } else { "" }
        return LaterPlaylist(representation) {
            PlaylistLoad(
                playlistRequest(url, of: representation), at: addresses(url, of: representation, .rounds(0)),
                over: requests.network)
        } read: { (answer) throws(MediaError) in
            let inner = try manifest(answer.body, .hls, from: answer.url, quality)
            return try representation.with(inner.best(quality: quality))
        } load: { (patience) throws(MediaError) in
            let (inner, _) = try playlist(of: representation, patience, quality)
            return try representation.with(inner.best(quality: quality))
        }
    }

    /// Returns a file that is not played yet.
    private func laterFile(_ representation: Representation, _ request: TransferRequest) -> LaterPlaylist {
        LaterPlaylist(representation) {
            PlaylistLoad(request, at: addresses(request.url, of: representation, .rounds(0)), over: requests.network)
        } read: { (answer) throws(MediaError) in
            try representation.with(index: answer.body)
        } load: { (patience) throws(MediaError) in
            guard let found = try indexed(representation, patience) else { throw .damaged(what: "the index of a file") }
            return found
        }
    }

    private func playlist(
        of representation: Representation, _ patience: Patience, _ quality: String?
    ) throws(MediaError) -> (manifest: Manifest, url: String) {
        let url = if case .playlist(let url) = representation.segments { url } else { "" }
        let answer: WholeAnswer.Content
        do throws(ResourceFailure) {
            answer = try requests.answer(
                to: playlistRequest(url, of: representation),
                at: addresses(url, of: representation, patience))
        } catch {
            throw .source(error.byteSourceError)
        }
        var inner: Manifest
        do throws(MediaError) { inner = try manifest(answer.body, .hls, from: answer.url, quality) } catch {
            throw Self.isPlaylist(answer.body)
                ? error : .source(.foreign(status: 200, reason: ServiceRefusal.foreignReason(200)))
        }
        // The segments are relative to each of the representation's addresses.
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

    /// Whether an answer has the form of a playlist, whatever its faults. Any other answer comes from a third party.
    private static func isPlaylist(_ body: [UInt8]) -> Bool {
        let text = body.starts(with: [0xEF, 0xBB, 0xBF]) ? body.dropFirst(3) : body[...]
        return text.starts(with: "#EXTM3U".utf8)
    }

    private func playlistRequest(_ url: String, of representation: Representation) -> TransferRequest {
        var request = TransferRequest.content(url, requests.space?.representation(representation))
        if asksForNew { request.headers.append(HeaderField("Cache-Control", "no-cache")) }
        return request
    }

    private func addresses(
        _ url: String, of representation: Representation, _ patience: Patience
    ) -> ResourceAddresses {
        ResourceAddresses(Alternatives(url, bases: representation.bases), failed: requests.failed, patience)
    }

    /// - Returns: the manifest with its sets in the order of preference.
    func manifest(
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
    /// The address of its first segment, its file or its playlist.
    fileprivate var firstAddress: String? {
        switch segments {
        case .file(let file): file.url
        case .list(let list): list.segments.first?.resource.url
        case .template(let template): template.segment(template.timeline().firstIndex)?.resource.url
        case .playlist(let url): url
        }
    }

    /// Returns a request for the index of a file that begins with one; nil for other representations.
    fileprivate func indexRequest(_ requests: ServiceRequests) -> TransferRequest? {
        guard case .file(let file) = segments, file.initialization != nil, file.mediaOffset == 0, let range = file.index
        else { return nil }
        let index = ResourceReference(url: file.url, range: range)
        return .content(index.url, range: index.byteRange, requests.space?.representation(self))
    }

    /// - Parameter index: the bytes of the file's index.
    fileprivate func with(index: [UInt8]) throws(MediaError) -> Representation {
        guard case .file(let file) = segments else { return self }
        var result = self
        do throws(ManifestError) {
            result.segments = .list(try file.segments(by: AudioFile.segmentIndex(in: index)))
        } catch {
            throw .damaged(what: "the index of a file")
        }
        return result
    }

    /// - Parameter inner: the representation in its playlist.
    fileprivate func with(_ inner: Representation?) throws(MediaError) -> Representation {
        guard var result = inner else { throw .damaged(what: "a manifest without audio") }
        result.bandwidth = bandwidth
        result.codecs = codecs
        result.channelCount = channelCount
        result.bases = bases
        return result
    }
}
