import Manifests
import Media
import PCM

/// The stretch of a music file that is a track of a cue sheet.
struct SheetStretch {
    /// The index of its music file in the sheet's files.
    let file: Int

    private let number: Int
    private let path: String
    private let start: CueTime
    private let end: CueTime?
    private let metadata: TrackMetadata
    /// Whether the music file has no other track.
    private let isWholeFile: Bool

    /// - Throws: when the sheet has no such track.
    init(_ number: Int, of sheetFile: SheetFile) throws(MusicProblem) {
        let (path, tracks) = (sheetFile.path, sheetFile.sheet.tracks)
        guard tracks.indices.contains(number - 1) else {
            throw MusicProblem(path, "no track \(number): its cue sheet has \(tracks.count).")
        }
        let track = tracks[number - 1]
        guard track.isAudio else { throw MusicProblem(path, "track \(number) is data, not music.") }
        guard let place = track.place else {
            throw MusicProblem(path, "track \(number) has no INDEX 01 in the cue sheet.")
        }
        self.number = number
        self.path = path
        file = place.file
        start = place.start
        end = place.end
        metadata = track.metadata
        isWholeFile = sheetFile.sheet.tracksSharingFile(with: number - 1) == 1
    }

    /// Returns the audio of the track.
    /// - Parameters:
    ///   - whole: the decoder of the music file, at its first frame.
    ///   - loudness: the loudness of that file.
    func decoder(_ whole: any AudioDecoder, _ loudness: ReplayGain) throws(MusicProblem) -> any AudioDecoder {
        let rate = whole.properties.format.sampleRate
        let (first, next) = (start.frame(rate: rate), end?.frame(rate: rate))
        if let length = whole.properties.frameCount, first >= length {
            throw MusicProblem(path, "track \(number) begins after the end of its music file.")
        }
        if let next, next <= first {
            throw MusicProblem(path, "track \(number) does not begin before the next one.")
        }
        let tags = tags(whole.metadata, loudness)
        return ClippedDecoder(whole, from: first, count: next.map { $0 - first }, metadata: tags)
    }

    /// Returns the tags of the sheet. Tags of the file fill the gaps if they apply to this track.
    private func tags(_ file: TrackMetadata, _ loudness: ReplayGain) -> TrackMetadata {
        var known = file
        if !isWholeFile {
            for field in [TagField.title, .trackNumber, .trackTotal, .recordingID] { known[field] = [] }
        }
        var tags = known.overridden(by: metadata)
        let gain = metadata.replayGain
        tags.replayGain = gain
        if gain.albumGain == nil {
            tags.replayGain.albumGain = loudness.albumGain ?? (isWholeFile ? nil : loudness.trackGain)
            tags.replayGain.albumPeak = loudness.albumPeak ?? (isWholeFile ? nil : loudness.trackPeak)
        }
        if isWholeFile, gain.trackGain == nil {
            tags.replayGain.trackGain = loudness.trackGain
            tags.replayGain.trackPeak = loudness.trackPeak
        }
        return tags
    }
}
