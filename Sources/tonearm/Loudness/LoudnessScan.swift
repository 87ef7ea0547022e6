import Media
import PCM
import Platform
import Player

/// Measures the loudness of music files, an album at a time: the files of a folder with the same album tag.
///
/// Thread: the main thread.
final class LoudnessScan {
    /// The result for a file.
    enum Outcome: Equatable {
        case measured(ReplayGain)
        /// Its sound has not changed since it was measured.
        case known
        /// Its tags have the loudness.
        case tagged
        /// It has no loudness: it is shorter than 0.4 s.
        case tooShort
        /// It has no loudness: it is silent.
        case silent
        case failed(code: String, message: String)
    }

    /// A file that was opened once.
    private struct Track {
        let path: String
        let version: MusicFileVersion
        let isKnown: Bool
        let album: String?
    }

    typealias Opening = (_ path: String) throws(PlayerError) -> OpenedProduct

    /// The most tracks of an album. A larger number of files is not an album, and each is measured alone.
    private static let mostTracks = 200

    private let store: any LoudnessStore
    private let measuresAll: Bool
    private let open: Opening
    /// Called with each file, after its loudness is stored.
    private let report: (_ path: String, Outcome) -> Void
    /// Called repeatedly with the file that is being measured, and the part that was measured.
    private let progress: (_ path: String, _ part: Double) -> Void

    /// - Parameter measuresAll: whether to measure also files with tags, and files that were measured before.
    init(
        _ store: any LoudnessStore, measuresAll: Bool, open: @escaping Opening,
        report: @escaping (String, Outcome) -> Void, progress: @escaping (String, Double) -> Void = { _, _ in }
    ) {
        self.store = store
        self.measuresAll = measuresAll
        self.open = open
        self.report = report
        self.progress = progress
    }

    /// - Parameter files: the files of a folder follow each other.
    func run(_ files: [String]) throws(LoudnessFailure) {
        var rest = files[...]
        while let first = rest.first {
            let folder = Folder.containing(first)
            let tracks = rest.prefix { Folder.containing($0).utf8.elementsEqual(folder.utf8) }
            rest = rest.dropFirst(tracks.count)
            try measureFolder(tracks)
        }
    }

    private func measureFolder(_ paths: ArraySlice<String>) throws(LoudnessFailure) {
        var files: [(path: String, version: MusicFileVersion)] = []
        for path in paths {
            do throws(SystemError) { files.append((path, try MusicFileVersion(at: path))) } catch {
                let problem = MusicProblem(error, at: path)
                report(path, .failed(code: problem.code, message: problem.message))
            }
        }
        let known = measuresAll ? files.map { _ in nil } : try store.known(files.map { $0.version })
        if known.allSatisfy({ $0 != nil }) {
            for file in files { report(file.path, .known) }
            return
        }
        var albums: [[Track]] = []
        for (file, isKnown) in zip(files, known) {
            guard let track = track(file.path, file.version, isKnown != nil) else { continue }
            if let index = albums.firstIndex(where: { Self.isSame($0[0].album, track.album) }) {
                albums[index].append(track)
            } else {
                albums.append([track])
            }
        }
        for album in albums {
            if try isKnown(album) {
                for track in album { report(track.path, .known) }
            } else if album.count > Self.mostTracks {
                for track in album { try measure([track]) }
            } else {
                try measure(album)
            }
        }
    }

    /// Whether all tracks were measured, and as one album. Files with other names or tags are known by their sound.
    private func isKnown(_ album: [Track]) throws(LoudnessFailure) -> Bool {
        if measuresAll || album.allSatisfy({ $0.isKnown }) { return !measuresAll }
        let known = try store.known(album.map { $0.version }).compactMap { $0 }
        guard known.count == album.count else { return false }
        return album.count > Self.mostTracks || known.allSatisfy { $0 == known[0] }
    }

    /// - Returns: nil when the file is not to be measured, after the report.
    private func track(_ path: String, _ version: MusicFileVersion, _ isKnown: Bool) -> Track? {
        do throws(PlayerError) {
            let opened = try open(path)
            guard measuresAll || !opened.decoder.metadata.replayGain.isComplete else {
                report(path, .tagged)
                return nil
            }
            return Track(
                path: path, version: version.identified(opened.decoder.properties), isKnown: isKnown,
                album: opened.decoder.metadata.album)
        } catch {
            report(path, .failed(code: error.code, message: error.message))
            return nil
        }
    }

    private static func isSame(_ one: String?, _ other: String?) -> Bool {
        guard let one, let other else { return one == nil && other == nil }
        return one.utf8.elementsEqual(other.utf8)
    }

    // MARK: Measuring

    private func measure(_ album: [Track]) throws(LoudnessFailure) {
        var measured: [(track: Track, meter: LoudnessMeter)] = []
        for track in album {
            do throws(PlayerError) { measured.append((track, try meter(of: track))) } catch {
                report(track.path, .failed(code: error.code, message: error.message))
            }
        }
        let meters = measured.map { $0.meter }
        let albumGain = LoudnessMeter.albumGain(of: meters)
        let albumPeak = meters.compactMap { $0.peak }.max()
        let results = measured.map { track, meter in
            FileLoudness(
                track.version,
                ReplayGain(
                    trackGain: meter.gain, trackPeak: meter.gain == nil ? nil : meter.peak, albumGain: albumGain,
                    albumPeak: albumGain == nil ? nil : albumPeak))
        }
        let refusals = try store.keep(results)
        for (index, (track, meter)) in measured.enumerated() {
            if let refusal = refusals[index] {
                report(track.path, .failed(code: "t1", message: refusal))
            } else if meter.gain == nil {
                report(track.path, meter.isTooShort ? .tooShort : .silent)
            } else {
                report(track.path, .measured(results[index].replayGain))
            }
        }
    }

    private func meter(of track: Track) throws(PlayerError) -> LoudnessMeter {
        let opened = try open(track.path)
        let count = max(opened.decoder.properties.frameCount ?? 0, 1)
        let measurement = LoudnessMeasurement(opened.decoder) { frames in
            progress(track.path, min(Double(frames) / Double(count), 1))
            return true
        }
        let product = MediaProduct(productType: .track, productId: track.path, referenceId: track.path)
        guard let measurement else {
            let message = "\(track.path): not enough memory, or a format that cannot be measured."
            throw PlayerError(.unexpected, code: "c1", message: message, mediaProduct: product)
        }
        if let error = measurement.error { throw PlayerError(error, product) }
        return measurement.meter
    }
}
