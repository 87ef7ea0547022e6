import Manifests
import Media
import PCM
import Platform

/// The tracks of a file: one, or those of a cue sheet.
struct ScannedFile {
    var tracks: [ScannedTrack]
    /// The files in the same folder whose tracks these are.
    var music: [String] = []

    /// Reads a music file, with the cue sheet in it.
    init(_ path: String, _ stamp: FileStamp, readsSheet: Bool) throws(MediaError) {
        let (file, whole) = try Self.open(path, stamp)
        tracks = [whole]
        if readsSheet, whole.properties.container == .flac,
            let sheet = try AudioFile.cueSheet(in: file).flatMap(CueSheet.init)
        {
            let parts = sheet.tracks.indices.compactMap { Self.track($0, of: sheet, in: whole, stamp) }
            if !parts.isEmpty { tracks = parts }
        }
    }

    /// Reads a cue sheet, and the music files that it names.
    /// - Parameters:
    ///   - names: the music files in its folder.
    ///   - roots: the folders in which these files may lie; nil for all.
    init(
        sheet place: FilePlace, _ stamp: FileStamp, beside names: [String], in roots: MusicRoots? = nil
    ) throws(MediaError) {
        tracks = []
        let sheet: CueSheet
        do throws(SystemError) {
            sheet = CueSheet(parsing: try File.contents(of: place.path, limit: CueSheet.mostBytes))
        } catch {
            throw .source(.medium(error))
        }
        for file in sheet.files.indices {
            guard let music = Self.music(file, of: sheet, place, names), roots?.contain(music.path) ?? true else {
                continue
            }
            let (_, whole) = try Self.open(music.path, stamp)
            if music.folder.utf8.elementsEqual(place.folder.utf8) { self.music.append(music.file) }
            for number in sheet.tracks.indices where sheet.tracks[number].place?.file == file {
                if let track = Self.track(number, of: sheet, in: whole, stamp) { tracks.append(track) }
            }
        }
        if tracks.isEmpty { throw .damaged(what: "a cue sheet without music") }
    }

    private static func open(_ path: String, _ stamp: FileStamp) throws(MediaError) -> (MusicFile, ScannedTrack) {
        let file: MusicFile
        do throws(SystemError) { file = try MusicFile(path) } catch { throw .source(.medium(error)) }
        let decoder = try AudioFile.open(file)
        do throws(ByteSourceError) {
            let content = try AudioIdentity.of(file, decoder.properties)
            return (file, ScannedTrack(stamp, decoder.properties, decoder.metadata, content: content))
        } catch {
            throw .source(error)
        }
    }

    /// Returns a track of a sheet: Its tags override those of the file, whose title and number belong to the whole
    /// file.
    private static func track(
        _ index: Int, of sheet: CueSheet, in whole: ScannedTrack, _ stamp: FileStamp
    ) -> ScannedTrack? {
        let entry = sheet.tracks[index]
        guard entry.isAudio, let place = entry.place else { return nil }
        let rate = whole.properties.format.sampleRate
        let start = place.start.frame(rate: rate)
        let end = place.end?.frame(rate: rate) ?? whole.properties.frameCount
        if let end, end <= start { return nil }
        var track = whole
        track.stamp = stamp
        track.part = index + 1
        track.content = whole.content &+ Int64(track.part)
        track.properties.frameCount = end.map { $0 - start }
        var shared = whole.metadata
        if sheet.tracksSharingFile(with: index) > 1 {
            (shared.title, shared.trackNumber) = (nil, nil)
            (shared.replayGain.trackGain, shared.replayGain.trackPeak) = (nil, nil)
        }
        track.metadata = shared.overridden(by: entry.metadata)
        if track.metadata.trackNumber == nil { track.metadata.trackNumber = track.part }
        return track
    }

    /// Returns the music file of a sheet: the file with its name, or with another ending, because music may have been
    /// converted. For a name that cannot be decoded, returns the only remaining file.
    private static func music(
        _ file: Int, of sheet: CueSheet, _ place: FilePlace, _ names: [String]
    ) -> FilePlace? {
        if let found = named(file, of: sheet, place, names) { return found }
        guard sheet.isNameGuessed(file) else { return nil }
        var others: [String] = []
        for other in sheet.files.indices where other != file {
            guard let found = named(other, of: sheet, place, names) else { return nil }
            if found.folder.utf8.elementsEqual(place.folder.utf8) { others.append(found.file) }
        }
        return sheet.remainingName(for: file, among: names, without: others)
            .map { FilePlace(folder: place.folder, file: $0) }
    }

    private static func named(
        _ file: Int, of sheet: CueSheet, _ place: FilePlace, _ names: [String]
    ) -> FilePlace? {
        let folder = place.folder.isEmpty ? "/" : place.folder
        guard let entry = sheet.entry(file, in: folder) else { return nil }
        for path in (entry.path.map { [$0] } ?? []) + entry.alternatives where FileKind(at: path) == .file {
            return FilePlace(path)
        }
        guard let named = entry.path ?? entry.alternatives.first else { return nil }
        let stem = FoldedText.name(FilePlace(named).stem)
        let match = names.first { FoldedText.name(FilePlace(folder: "", file: $0).stem).elementsEqual(stem) }
        return match.map { FilePlace(folder: place.folder, file: $0) }
    }
}
