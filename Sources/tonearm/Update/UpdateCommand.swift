import Appliance
import CLinux
import Network
import Platform
import Player

/// `tonearm update`: installs a signed bundle in the slot of the firmware image that does not run.
struct UpdateCommand {
    private static let options: [Arguments.Option] = [
        .init("--force"), .init("--json"), .init("--root", value: "FOLDER"),
        .init("--config", value: "FILE"),
    ]

    private let source: String
    private let isForced: Bool
    private let json: Bool
    /// The folder of the root file system. For tests.
    private let root: String
    /// The configuration whose `[network]` the download uses; nil for the usual one.
    private let configuration: String?
    private let console = Console()

    init(_ words: [String]) throws(UsageError) {
        let arguments = try Arguments(parsing: words, knowing: Self.options)
        guard arguments.operands.count == 1 else {
            throw UsageError("update needs one FILE or URL: a bundle from the maker of this player.")
        }
        source = arguments.operands[0]
        isForced = arguments.has("--force")
        json = arguments.has("--json")
        root = arguments.value(of: "--root") ?? ""
        configuration = arguments.value(of: "--config")
    }

    /// - Returns: the exit code.
    func run() -> Int32 {
        // The music's own reads come first.
        tonearm_use_background_priority()
        guard UpdateDownload.isURL(source) else { return install(source) }
        let download = UpdateDownload(of: source, root: root)
        defer { download.remove() }
        return fetch(download) ?? install(download.path)
    }

    /// - Returns: the exit code of a download that failed; nil when the bundle is complete.
    private func fetch(_ download: UpdateDownload) -> Int32? {
        let network: Network
        do throws(NetworkSetupError) { network = try Network(networkSettings()) } catch {
            return fail("download", "\(source) cannot be downloaded: \(error)")
        }
        defer { network.stop() }
        let display = UpdateProgress(console, json: json)
        do throws(UpdateDownload.Failure) {
            try download.run(over: network) { display.show(.downloading, done: $0, of: $1) }
            display.end()
            return nil
        } catch {
            display.end()
            if case .image(let error) = error { return fail(error.code, error.description) }
            return fail(error.code, "\(source) cannot be downloaded: \(error)")
        }
    }

    /// Returns the settings of the daemon's configuration. A configuration with mistakes does not prevent an update,
    /// which may repair it.
    private func networkSettings() -> NetworkSettings {
        let clock = TrustedCertificateClock(TrustedClock(store: nil), released: tonearmReleased)
        return ConfigurationFile(configuration).usable.networkSettings(clock)
    }

    private func install(_ file: String) -> Int32 {
        let display = UpdateProgress(console, json: json)
        let installation = UpdateInstallation(of: file, isForced: isForced, root: root, progress: display.show)
        do throws(UpdateError) {
            let version = try installation.run()
            display.end()
            if json {
                console.print(
                    JSONValue.object([.init("event", "done"), .init("version", .string(version))]).serialized())
            } else {
                console.print("Version \(version) is installed. It starts with the next start of the board.")
            }
            return ExitCode.fine
        } catch {
            display.end()
            return fail(error.code, error.description)
        }
    }

    private func fail(_ code: String, _ message: String) -> Int32 {
        console.complain(message)
        if json {
            let value: JSONValue = ["event": "error", "code": .string(code), "message": .string(message)]
            console.print(value.serialized())
        }
        return ExitCode.failed
    }
}
