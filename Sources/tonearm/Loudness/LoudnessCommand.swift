import CLinux
import Media
import Platform
import Player

/// `tonearm loudness`: measures the loudness of music without tags of loudness.
struct LoudnessCommand {
    private static let options =
        DaemonCommand.options + [
            Arguments.Option("--all"), Arguments.Option("--daemon"), Arguments.Option("--write-tags"),
        ]

    private let paths: [String]
    private let measuresAll: Bool
    private let usesDaemon: Bool
    private let writesTags: Bool
    private let common: DaemonCommand

    init(_ words: [String]) throws(UsageError) {
        let arguments = try Arguments(parsing: words, knowing: Self.options)
        measuresAll = arguments.has("--all")
        usesDaemon = arguments.has("--daemon")
        writesTags = arguments.has("--write-tags")
        common = DaemonCommand(arguments)
        paths = arguments.operands
        if paths.isEmpty { throw UsageError("nothing to measure. Name files or folders: `tonearm loudness FOLDER`.") }
        if arguments.has("--socket"), !usesDaemon { throw UsageError("--socket needs --daemon.") }
        if writesTags, usesDaemon { throw UsageError("--write-tags and --daemon exclude each other.") }
        #if !TagWriting
            if writesTags {
                throw UsageError("--write-tags: this program was built without TagLib. Results are stored without it.")
            }
        #endif
    }

    /// - Returns: the exit code. A signal ends the program; finished albums are stored by then.
    func run() -> Int32 {
        // The music's own reads come first.
        tonearm_use_background_priority()
        let report = LoudnessReport(common.console, json: common.json)
        let files = find(report)
        report.begin(count: files.count)
        do throws(LoudnessFailure) {
            let cancellation = try openCancellation()
            let source = LocalFiles()
            let open: LoudnessScan.Opening = { path throws(PlayerError) in
                let product = MediaProduct(productType: .track, productId: path, referenceId: path)
                return try source.open(
                    product, session: PlaybackSession(), cancellation: cancellation, medium: MediumAccess())
            }
            let scan = LoudnessScan(try store(open), measuresAll: measuresAll, open: open) {
                report.add($0, $1)
            } progress: {
                report.progress($0, $1)
            }
            try scan.run(files)
        } catch {
            report.end(isComplete: false)
            common.console.complain(error.message)
            return error.exitCode
        }
        report.end(isComplete: true)
        return report.hasFailed ? ExitCode.failed : ExitCode.fine
    }

    /// Returns the files at the paths, and reports paths without music.
    private func find(_ report: LoudnessReport) -> [String] {
        var files: [String] = []
        for path in paths {
            // Each path is a search of its own: an error of one does not end the others.
            var search = MusicFolder(findsFilesAlone: true)
            do throws(MusicFolder.Stop) { try search.add(path) } catch {
                if case .unreadable(let error) = error { report.add(MusicProblem(error, at: path)) }
            }
            for problem in search.contents.problems { report.add(problem) }
            files += search.contents.files
        }
        return files
    }

    private func openCancellation() throws(LoudnessFailure) -> Cancellation {
        do throws(SystemError) { return try Cancellation() } catch {
            throw LoudnessFailure(message: error.description, exitCode: ExitCode.failed)
        }
    }

    private func store(_ open: @escaping LoudnessScan.Opening) throws(LoudnessFailure) -> any LoudnessStore {
        #if TagWriting
            if writesTags { return TaggedLoudness(else: try StateLoudness(StateFolder.path), open: open) }
        #endif
        guard usesDaemon else { return try StateLoudness(StateFolder.path) }
        do throws(DaemonFailure) { return DaemonLoudness(try common.connect()) } catch {
            throw LoudnessFailure(message: error.message, exitCode: error.exitCode)
        }
    }
}
