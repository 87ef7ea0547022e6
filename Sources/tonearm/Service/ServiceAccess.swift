import Appliance
import CLinux
import Network
import Platform
import Player

/// How commands reach the content service: as the daemon does, or with `--service` as `tonearm play` does.
struct ServiceAccess {
    static let options: [Arguments.Option] = [
        .init("--config", value: "FILE"), .init("--service", value: "URL"), .init("--ca-file", value: "FILE"),
    ]

    /// Why there is no service, for a person.
    struct Problem: Error {
        var lines: [String]
        var exitCode = ExitCode.failed
    }

    let account: ServiceAccount
    /// For a person.
    let address: String
    /// Whether the login is that of the daemon.
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

    /// A service that a command names itself.
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

    /// For what asks the service's catalogue, which no part of the player does in offline mode.
    static func toCatalogue(_ arguments: Arguments) throws(Problem) -> ServiceAccess {
        if !arguments.has("--service"), try isOfflineMode(arguments) {
            throw Problem(
                lines: ["the player is in offline mode: `tonearm config set offline.only no` ends it."])
        }
        return try ServiceAccess(arguments)
    }

    /// As the daemon has it, else as its file has it.
    private static func isOfflineMode(_ arguments: Arguments) throws(Problem) -> Bool {
        let key = JSONValue.Member("key", .string("offline.only"))
        do throws(DaemonFailure) {
            let reply = try DaemonConnection(arguments.value(of: "--socket")).ask("config-get", [key])
            let value = reply.value["settings"]?.elements?.first?["value"]?.string
            if let value { return value.utf8.elementsEqual("yes".utf8) }
        } catch {
            // It does not run, or this user may not ask it.
        }
        do throws(ConfigurationFile.Problems) {
            return try ConfigurationFile(arguments.value(of: "--config")).read().isOfflineOnly
        } catch {
            throw Problem(lines: error.lines, exitCode: ExitCode.configuration)
        }
    }

    /// The products with the tracks of albums and playlists in their place. Without any the service is not asked.
    static func expanded(_ products: [String], _ arguments: Arguments) throws(Problem) -> [String] {
        guard products.contains(where: { CatalogueList($0) != nil }) else { return products }
        return try toCatalogue(arguments).expanded(products)
    }

    /// The same, of a service that a command names itself.
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

    /// The tracks of an album or a playlist.
    private func tracks(of list: CatalogueList) throws(Problem) -> [String] {
        let cancellation: Cancellation
        do throws(SystemError) { cancellation = try Cancellation() } catch { throw Problem(lines: [error.description]) }
        do throws(PlayerError) { return try account.tracks(of: list, cancellation: cancellation) } catch {
            throw Problem(lines: ["\(list.text) of \(address): \(error.message)"])
        }
    }

    /// Checks what would be wrong on every machine.
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

    /// What root would create there belongs to the daemon, which could not read it otherwise.
    private static func prepare(_ folder: String) throws(Problem) {
        do throws(SystemError) {
            try Folder.create(folder, mode: 0o700)
            if FileName.withBytes(of: folder, { tonearm_become_owner($0) }) != 0 {
                throw SystemError.last("become the owner of", folder)
            }
            // Without this right there would seem to be no login.
            _ = try Folder.entries(of: folder) { _ in .stop }
        } catch {
            let advice = error.code == EACCES ? " It belongs to the daemon: try again with sudo." : ""
            throw Problem(lines: ["\(folder): \(error.reason).\(advice)"])
        }
    }
}
