import Library
import Media
import Platform
import Player

/// `tonearm probe`: the properties of a file, from its headers and tags.
struct ProbeCommand {
    private let paths: [String]
    private let json: Bool
    private let console = Console()
    private let source = LocalFiles()

    init(_ words: [String]) throws(UsageError) {
        let arguments = try Arguments(parsing: words, knowing: [.init("--json")])
        json = arguments.has("--json")
        paths = arguments.operands
        if paths.isEmpty { throw UsageError("nothing to look at. Name files or folders: `tonearm probe FILE`.") }
    }

    func run() -> Int32 {
        let selection = MusicSelection(paths)
        for problem in selection.problems { report(problem.path, problem.code, problem.message) }
        var hasFailed = !selection.problems.isEmpty
        var isFirst = true
        var covers = Covers()
        for file in selection.files {
            do throws(PlayerError) {
                let description = FileDescription(file, try open(file), cover: covers.cover(of: file))
                if !json, !isFirst { console.print("") }
                let isRead = console.print(json ? description.value.serialized() : description.text)
                if !isRead { return ExitCode.failed }
                isFirst = false
            } catch {
                report(file, error.code, error.message)
                hasFailed = true
            }
        }
        return hasFailed ? ExitCode.failed : ExitCode.fine
    }

    private func report(_ file: String, _ code: String, _ message: String) {
        console.complain(message)
        if json { console.print(JSONMessages.error(file: file, code: code, message: message).serialized()) }
    }

    private func open(_ file: String) throws(PlayerError) -> any AudioDecoder {
        let product = MediaProduct(productType: .track, productId: file, referenceId: file)
        let cancellation: Cancellation
        do throws(SystemError) { cancellation = try Cancellation() } catch {
            throw PlayerError(error)
        }
        return try source.open(
            product, session: PlaybackSession(), cancellation: cancellation, medium: MediumAccess()
        ).decoder
    }
}

/// The covers of the last folder: the next file is often in it too.
private struct Covers {
    private var last: (folder: String, cover: String?)?

    mutating func cover(of file: String) -> String? {
        let folder = Folder.containing(file)
        if let last, last.folder.utf8.elementsEqual(folder.utf8) { return last.cover }
        let cover = Cover.file(in: folder, nil)
        last = (folder, cover)
        return cover
    }
}
