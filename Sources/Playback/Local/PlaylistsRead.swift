import Manifests
import Media
import Platform

/// A playlist whose entries are being searched.
struct OpenPlaylist {
    let path: String
    let identity: Folder.Identity
}

/// The number of playlists that a search has read, and the problems that it has noted.
struct PlaylistsRead {
    let musicPath: PlaylistEntry.MusicPath
    /// The playlists that contain themselves or are nested too deeply, and whose problem was already noted.
    private var told: Set<Folder.Identity> = []
    private var count = 0

    /// The limit of playlists: each may contain thousands of others.
    private static let most = 1000
    private static let deepest = 5

    init(musicPath: @escaping PlaylistEntry.MusicPath) { self.musicPath = musicPath }

    /// Returns why a playlist is not read; nil when it is. The reason is empty if the problem was noted before.
    mutating func refusal(_ playlist: OpenPlaylist, inside outer: [OpenPlaylist]) -> String? {
        let reason: String
        if let place = outer.firstIndex(where: { $0.identity == playlist.identity }) {
            let way = (outer[place...].map { $0.path } + [playlist.path]).joined(separator: " → ")
            reason = "the playlist is an entry of itself: \(way)."
        } else if outer.count >= Self.deepest {
            reason = "more than \(Self.deepest) playlists lie in each other here."
        } else if count >= Self.most {
            reason = "more than \(Self.most) playlists at once."
        } else {
            count += 1
            return nil
        }
        return told.insert(playlist.identity).inserted ? reason : ""
    }
}

extension MusicFolder {
    /// The maximum number of missing entries of a playlist that are named, and also of refused addresses. Further ones
    /// are only counted.
    private static let mostNamed = 10

    /// Adds the entries of a playlist. Problems with the playlist and its entries are noted.
    mutating func addPlaylist(_ path: String, inside outer: [OpenPlaylist]) throws(Stop) {
        guard let identity = Folder.Identity(of: path) else {
            return contents.skip(MusicProblem(SystemError.last("open", path), at: path))
        }
        let playlist = OpenPlaylist(path: path, identity: identity)
        if let reason = playlists.refusal(playlist, inside: outer) {
            if !reason.isEmpty { contents.skip(MusicProblem(path, reason)) }
            return
        }
        let list: PlaylistFile
        do throws(MusicProblem) { list = try read(path) } catch { return contents.skip(error) }
        if list.otherAddressCount > 0 { skipOtherAddresses(list, path) }
        var (missing, refused) = (0, 0)
        for entry in list.entries {
            try check()
            if let text = entry.serviceAddress, ServiceAddress(text) != nil {
                try append(text)
                continue
            }
            if let text = entry.webAddress, let address = WebFileAddress(text) {
                guard let reason = address.refusal else {
                    try append(text)
                    continue
                }
                refused += 1
                if refused <= Self.mostNamed {
                    contents.skip(MusicProblem(path, "its entry \"\(address.shown)\": \(reason)"))
                } else {
                    contents.problemCount += 1
                }
                continue
            }
            guard let found = Self.place(of: entry) else {
                missing += 1
                if missing <= Self.mostNamed {
                    let remedy = SheetFile.remedy(list.unreadEncoding)
                    contents.skip(MusicProblem(path, "its entry \"\(entry.line)\" does not exist.\(remedy)"))
                }
                continue
            }
            do throws(Stop) { try add(found, inside: outer + [playlist]) } catch {
                switch error {
                case .cancelled, .tooMany: throw error
                case .unreadable(let error): contents.skip(MusicProblem(error, at: found))
                case .kernelFolder: contents.skip(MusicProblem(found, "a folder of the system."))
                }
            }
        }
        let others = missing - Self.mostNamed
        if others > 0 {
            let entries = others == 1 ? "1 more of its entries does" : "\(others) more of its entries do"
            contents.skip(MusicProblem(path, "\(entries) not exist."), count: others)
        }
    }

    private func read(_ path: String) throws(MusicProblem) -> PlaylistFile {
        let (bytes, folder): ([UInt8], String)
        do throws(SystemError) {
            bytes = try File.contents(of: path, limit: PlaylistFile.mostBytes)
            folder = try Folder.resolved(Folder.containing(path))
        } catch {
            throw MusicProblem(error, at: path)
        }
        let list: PlaylistFile
        do throws(ManifestError) {
            list = try PlaylistFile(recognising: bytes, in: folder, musicPath: playlists.musicPath)
        } catch {
            switch error {
            case .malformed(let reason), .unsupported(let reason):
                throw MusicProblem(path, "not a playlist: \(reason).")
            }
        }
        if list.isStream { throw MusicProblem(path, "a stream (HLS), and no playlist of files.") }
        return list
    }

    private mutating func skipOtherAddresses(_ list: PlaylistFile, _ path: String) {
        let others = list.otherAddressCount > 1 ? " and \(list.otherAddressCount - 1) more" : ""
        contents.skip(
            MusicProblem(
                path, "only addresses of http and https are played, and not \(list.otherAddress ?? "")\(others)."),
            count: list.otherAddressCount)
    }

    /// Returns the first existing path that the entry may mean.
    private static func place(of entry: PlaylistEntry) -> String? {
        func exists(_ path: String) -> Bool {
            FileKind(at: path) != nil || SheetTrack(path).map { FileKind(at: $0.sheet) == .file } ?? false
        }
        if let path = entry.path, exists(path) { return path }
        return entry.alternatives.first(where: exists)
    }
}
