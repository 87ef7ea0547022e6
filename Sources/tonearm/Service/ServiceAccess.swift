import Appliance
import CLinux
import Network
import Platform
import Player

/// How commands reach the content service: like the daemon, or with `--service` like `tonearm play`.
struct ServiceAccess {
    static let options: [Arguments.Option] = [
        .init("--config", value: "FILE"), .init("--service", value: "URL"), .init("--ca-file", value: "FILE"),
    ]

    /// Why there is no service, for the user.
    struct Problem: Error {
        var lines: [String]
        var exitCode = ExitCode.failed
    }

    let account: ServiceAccount
    /// The address for the user.
    let address: String
    /// Whether the daemon's login is used.
    let isOfDaemon: Bool

    init(_ arguments: Arguments) throws(Problem) {
        var settings: StreamingSettings
        if let url = arguments.value(of: "--service") {
            settings = StreamingSettings(service: ServiceSettings(baseURL: url))
            settings.authorities = arguments.value(of: "--ca-file")
            settings.loginFolder = StateFolder.path
            isOfDaemon = false
        } else {
            settings = try Self.settings(ofDaemon: arguments.value(of: "--config"))
            if let file = arguments.value(of: "--ca-file") { settings.authorities = file }
            isOfDaemon = true
        }
        (address, account) = (settings.service.baseURL, try Self.account(settings))
    }

    /// Uses a service that a command itself names.
    private init(_ settings: StreamingSettings) throws(Problem) {
        isOfDaemon = false
        (address, account) = (settings.service.baseURL, try Self.account(settings))
    }

    private static func account(_ settings: StreamingSettings) throws(Problem) -> ServiceAccount {
        if let folder = settings.loginFolder { try prepare(folder) }
        do throws(NetworkSetupError) {
            let clock = TrustedCertificateClock(TrustedClock(store: nil), released: tonearmReleased)
            return try ServiceAccount(settings, clock: clock)
        } catch {
            throw Problem(lines: [error.description])
        }
    }

    /// Returns access for requests to the service's catalogue, which are refused in offline mode.
    static func toCatalogue(_ arguments: Arguments) throws(Problem) -> ServiceAccess {
        if !arguments.has("--service"), try isOfflineMode(arguments) {
            throw Problem(
                lines: ["the player is in offline mode: `tonearm config set offline.only no` ends it."])
        }
        return try ServiceAccess(arguments)
    }

    /// Reads offline mode from the daemon, or else from its file.
    private static func isOfflineMode(_ arguments: Arguments) throws(Problem) -> Bool {
        let key = JSONValue.Member("key", .string("offline.only"))
        do throws(DaemonFailure) {
            let reply = try DaemonConnection(arguments.value(of: "--socket")).ask("config-get", [key])
            let value = reply.value["settings"]?.elements?.first?["value"]?.string
            if let value { return value.utf8.elementsEqual("yes".utf8) }
        } catch {
            // The daemon does not run, or this user may not ask it.
        }
        do throws(ConfigurationFile.Problems) {
            return try ConfigurationFile(arguments.value(of: "--config")).read().isOfflineOnly
        } catch {
            throw Problem(lines: error.lines, exitCode: ExitCode.configuration)
        }
    }

    /// Returns the products with the tracks of albums and playlists in their place. Without albums and playlists the
    /// service is not asked.
    static func expanded(_ products: [String], _ arguments: Arguments) throws(Problem) -> [String] {
        guard products.contains(where: { CatalogueList($0) != nil }) else { return products }
        return try toCatalogue(arguments).expanded(products)
    }

    /// Does the same for a service that a command itself names.
    static func expanded(_ products: [String], _ settings: StreamingSettings?) throws(Problem) -> [String] {
        guard let list = products.first(where: { CatalogueList($0) != nil }) else { return products }
        guard let settings else { throw Problem(lines: ["\(list): name the content service with --service."]) }
        return try ServiceAccess(settings).expanded(products)
    }

    private func expanded(_ products: [String]) throws(Problem) -> [String] {
        var all: [String] = []
        for product in products {
            if let list = CatalogueList(product) {
                all += try tracks(of: list)
            } else {
                all.append(product)
            }
        }
        return all
    }

    /// Returns the tracks of an album or a playlist.
    private func tracks(of list: CatalogueList) throws(Problem) -> [String] {
        let cancellation: Cancellation
        do throws(SystemError) { cancellation = try Cancellation() } catch { throw Problem(lines: [error.description]) }
        do throws(PlayerError) { return try account.tracks(of: list, cancellation: cancellation) } catch {
            throw Problem(lines: ["\(list.text) of \(address): \(error.message)"])
        }
    }

    /// Checks for mistakes that do not depend on the machine.
    static func check(_ arguments: Arguments) throws(UsageError) {
        guard let url = arguments.value(of: "--service") else { return }
        if arguments.has("--config") { throw UsageError("--service and --config exclude each other.") }
        if let fault = ServiceURL.fault(in: url) { throw UsageError("--service\(fault).") }
    }

    private static func settings(ofDaemon file: String?) throws(Problem) -> StreamingSettings {
        let configuration: Configuration
        do throws(ConfigurationFile.Problems) {
            configuration = try ConfigurationFile(file).read()
        } catch {
            throw Problem(lines: error.lines, exitCode: ExitCode.configuration)
        }
        guard let settings = configuration.streamingSettings else {
            let path = file ?? ConfigurationFile.standardPath
            throw Problem(lines: ["no service: set `url` in section [service] of \(path), or name one with --service."])
        }
        return settings
    }

    /// Creates the folder, and takes on the user that owns it: the daemon could not read files that root owns.
    private static func prepare(_ folder: String) throws(Problem) {
        do throws(SystemError) {
            try Folder.create(folder, mode: 0o700)
            if FileName.withBytes(of: folder, { tonearm_become_owner($0) }) != 0 {
                throw SystemError.last("become the owner of", folder)
            }
            // Without this permission the login would seem to be missing.
            _ = try Folder.entries(of: folder) { _ in .stop }
        } catch {
            let advice = error.code == EACCES ? " It belongs to the daemon: try again with sudo." : ""
            throw Problem(lines: ["\(folder): \(error.reason).\(advice)"])
        }
    }
}
