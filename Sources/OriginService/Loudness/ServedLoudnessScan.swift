import Database
import HTTPServer
import Library
import Media
import PCM
import Platform
import Synchronization

/// Measures the tracks whose tags have no loudness, an album at a time.
///
/// Thread: any, one at a time; `stop`: any.
final class ServedLoudnessScan: Sendable {
    /// The most tracks of an album.
    private static let mostTracks = 200

    private let index: MusicIndex
    private let isStopped = Atomic(false)

    init(_ index: MusicIndex) { self.index = index }

    /// Ends `run` soon.
    func stop() { isStopped.store(true, ordering: .relaxed) }

    /// - Returns: the number of measured tracks.
    func run() throws(DatabaseError) -> Int {
        var count = 0
        while !isStopped.load(ordering: .relaxed), let next = try nextTrack() {
            let album = try tracks(with: next)
            let results: [Int64: ReplayGain]
            if album.allSatisfy(\.replayGain.isComplete) {
                results = [:]
            } else {
                guard let measured = measure(album) else { break }
                results = measured
                count += measured.count
            }
            try index.storeLoudness(results, of: album)
        }
        return count
    }

    private func nextTrack() throws(DatabaseError) -> Track? {
        try index.tracks(TrackQuery(.unmeasured, presence: .withHidden, page: ListPage(limit: 1))).first
    }

    private func tracks(with track: Track) throws(DatabaseError) -> [Track] {
        guard let album = track.albumId else { return [track] }
        let all = try index.tracks(TrackQuery(.album(album), presence: .withHidden))
        // A meter takes a megabyte. A larger number of tracks is not an album, and each is measured alone.
        return all.count <= Self.mostTracks ? all : [track]
    }

    /// - Returns: nil when it was stopped.
    private func measure(_ tracks: [Track]) -> [Int64: ReplayGain]? {
        var meters: [(id: Int64, meter: LoudnessMeter)] = []
        for track in tracks {
            guard let meter = measure(track) else { continue }
            meters.append((track.id, meter))
        }
        if isStopped.load(ordering: .relaxed) { return nil }
        let albumGain = LoudnessMeter.albumGain(of: meters.map(\.meter))
        let albumPeak = meters.compactMap(\.meter.peak).max()
        return Dictionary(
            uniqueKeysWithValues: meters.map { id, meter in
                (
                    id,
                    ReplayGain(
                        trackGain: meter.gain, trackPeak: meter.peak, albumGain: albumGain, albumPeak: albumPeak)
                )
            })
    }

    /// Measures a track. A file that cannot be decoded to its end is measured up to the error.
    private func measure(_ track: Track) -> LoudnessMeter? {
        guard let file = try? OpenedFile(track.path), let decoder = try? AudioFile.open(file) else { return nil }
        return LoudnessMeasurement(decoder) { _ in !isStopped.load(ordering: .relaxed) }?.meter
    }
}
