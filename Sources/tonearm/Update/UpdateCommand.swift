import Appliance
import CLinux
import Network
import Platform
import Player

/// `tonearm update`: installs a signed bundle in the slot of the firmware image that does not run.
struct UpdateCommand {
    private static let options: [Arguments.Option] = [
        .init("--force"), .init("--json"), .init("--root", value: "FOLDER"),
        .init("--config", value: "FILE"), .init("--for-client"),
        .init("--cancel"), .init("--socket", value: "PATH"),
    ]

    /// Cancels the update of the daemon; nil to install one.
    private let canceller: DaemonCommand?
    private let source: String
    private let isForced: Bool
    private let json: Bool
    /// Whether a client of the daemon has named the address (docs/decisions/guests.md).
    private let isForClient: Bool
    /// The folder of the root file system. For tests.
    private let root: String
    /// The configuration whose `[network]` the download uses; nil for the usual one.
    private let configuration: String?
    private let console = Console()

    init(_ words: [String]) throws(UsageError) {
        let arguments = try Arguments(parsing: words, knowing: Self.options)
        canceller = arguments.has("--cancel") ? DaemonCommand(arguments) : nil
        if canceller == nil, arguments.operands.count != 1 {
            throw UsageError("update needs one FILE or URL: a bundle from the maker of this player.")
        }
        if canceller == nil ? arguments.has("--socket") : !arguments.operands.isEmpty {
            throw UsageError("update --cancel takes no FILE or URL, and --socket goes with it alone.")
        }
        source = arguments.operands.first ?? ""
        isForced = arguments.has("--force")
        json = arguments.has("--json")
        isForClient = arguments.has("--for-client")
        root = arguments.value(of: "--root") ?? ""
        configuration = arguments.value(of: "--config")
    }

    /// - Returns: the exit code.
    func run() -> Int32 {
        if let canceller {
            return canceller.run { connection throws(DaemonFailure) in
                let reply = try connection.ask("update-cancel")
                canceller.show(reply) { _ in "The update is cancelled, if one was running." }
            }
        }
        // The music's own reads come first.
        tonearm_use_background_priority()
        let signals: UpdateSignals
        do throws(SystemError) { signals = try UpdateSignals() } catch { return fail("unreadable", error.description) }
        defer { signals.stop() }
        do throws(UpdateError) {
            return perform(signals.cancellation, holding: try UpdateInstallation.lock(root: root))
        } catch {
            return fail(error.code, error.description)
        }
    }

    private func perform(_ cancellation: Cancellation, holding lock: borrowing LockFile) -> Int32 {
        guard UpdateAddress.isMeant(by: source) else { return install(source, cancellation, holding: lock) }
        let configuration = ConfigurationFile(configuration).usable
        let download = UpdateDownload(
            of: source, isForced: isForced,
            localHosts: isForClient ? UpdateDownload.localHosts(forClient: source, configuration) : nil, root: root)
        defer { download.remove() }
        return fetch(download, configuration, cancellation) ?? install(download.path, cancellation, holding: lock)
    }

    /// - Parameter configuration: one with mistakes does not prevent an update, which may repair it.
    /// - Returns: the exit code of a download that failed; nil when the bundle is complete.
    private func fetch(
        _ download: UpdateDownload, _ configuration: Configuration, _ cancellation: Cancellation
    ) -> Int32? {
        let clock = TrustedCertificateClock(TrustedClock(store: nil), released: tonearmReleased)
        let network: Network
        do throws(NetworkSetupError) { network = try Network(configuration.networkSettings(clock)) } catch {
            return fail("download", "\(source) cannot be downloaded: \(error)")
        }
        defer { network.stop() }
        let display = UpdateProgress(console, json: json)
        do throws(UpdateDownload.Failure) {
            try download.run(over: network, cancellation: cancellation) { display.show(.downloading, done: $0, of: $1) }
            display.end()
            return nil
        } catch {
            display.end()
            if case .update(let error) = error { return fail(error.code, error.description) }
            return fail(error.code, "\(source) cannot be downloaded: \(error)")
        }
    }

    private func install(
        _ file: String, _ cancellation: Cancellation, holding lock: borrowing LockFile
    ) -> Int32 {
        let display = UpdateProgress(console, json: json)
        let installation = UpdateInstallation(
            of: file, isForced: isForced, root: root, isCancelled: { cancellation.isCancelled },
            progress: display.show)
        do throws(UpdateError) {
            let version = try installation.run(holding: lock)
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
