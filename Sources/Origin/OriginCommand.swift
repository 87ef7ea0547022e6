import Foundation
import Glibc
import OriginService
import Platform

/// The program `tonearm-origin`.
@main
enum OriginCommand {
    static func main() {
        do throws(OriginArguments.Mistake) {
            let arguments = try OriginArguments(
                Array(CommandLine.arguments.dropFirst()), ProcessInfo.processInfo.environment)
            switch arguments.command {
            case .help: print(OriginArguments.help)
            case .version: print("tonearm-origin \(OriginArguments.version)")
            case .serve(let serving): serve(serving)
            case .decide, .logins, .logout: manageLogins(arguments.command)
            case .status(let state, let isJSON): showStatus(state, isJSON: isJSON)
            case .events(let state, let isJSON): showEvents(state, isJSON: isJSON)
            }
        } catch {
            complain(error.description + "; try tonearm-origin --help")
            exit(2)
        }
    }

    private static func serve(_ options: ServeOptions) {
        let signals = blockedSignals()
        do throws(ContentOrigin.Failure) {
            let origin = try ContentOrigin(
                musicFolder: options.folder, stateFolder: options.stateFolder, settings: options.settings,
                faults: options.faults)
            let server = try origin.serve(
                address: options.address, port: options.port, certificate: options.certificate, key: options.key)
            if options.sendsPasswordsInTheClear {
                complain("warning: without TLS, the password of the page /link can be read on the network")
            }
            say("serving \(options.folder) at \(server.address)")
            let scanning = Thread { follow(origin) }
            scanning.start()
            var received: Int32 = 0
            var set = signals
            while sigwait(&set, &received) != 0 {}
            server.closeSockets()
            // Whatever the threads are doing, no data is lost: the index is in SQLite.
            exit(0)
        } catch {
            complain(error.description)
            exit(1)
        }
    }

    private static func manageLogins(_ command: OriginArguments.Command) {
        do throws(ContentOrigin.Failure) {
            switch command {
            case .decide(let code, let isAllowed, let state):
                guard let logins = try DeviceLogins.existing(stateFolder: state) else {
                    throw DeviceLogins.unknown(code: code)
                }
                let client = try logins.decide(code: code, isAllowed: isAllowed)
                print(isAllowed ? "\(client) may play your music now" : "\(client) was refused")
            case .logins(let state):
                let dates = ISO8601DateFormatter()
                for login in try DeviceLogins.existing(stateFolder: state)?.logins() ?? [] {
                    let created = dates.string(from: Date(timeIntervalSince1970: TimeInterval(login.created)))
                    print("\(login.id)\t\(created)\t\(login.client)")
                }
            case .logout(let id, let state):
                guard let logins = try DeviceLogins.existing(stateFolder: state) else {
                    throw DeviceLogins.unknown(login: id)
                }
                try logins.end(id)
            case .help, .version, .serve, .status, .events: break
            }
        } catch {
            complain(error.description)
            exit(1)
        }
    }

    private static func showStatus(_ state: String, isJSON: Bool) {
        do throws(ContentOrigin.Failure) {
            let status = try OriginStatus(stateFolder: state)
            print(isJSON ? status.json : status.text)
        } catch {
            complain(error.description)
            exit(1)
        }
    }

    private static func showEvents(_ state: String, isJSON: Bool) {
        do throws(ContentOrigin.Failure) {
            let events = try ReceivedEvents(stateFolder: state)
            let titles = try TrackTitles(stateFolder: state)
            let text = isJSON ? events.json : events.text { titles[$0] }
            if !text.isEmpty { print(text) }
        } catch {
            complain(error.description)
            exit(1)
        }
    }

    /// Follows the music folder, and measures the loudness of new tracks on another thread.
    private static func follow(_ origin: ContentOrigin) {
        let news = Condition()
        // Safe because both threads use it only under the lock of `news`.
        nonisolated(unsafe) var hasNews = false
        let measuring = Thread {
            while true {
                news.wait { hasNews }
                news.update { hasNews = false }
                measure(origin)
            }
        }
        measuring.start()
        do throws(SystemError) {
            // Never cancelled, because it runs until the process ends.
            let cancellation = try Cancellation()
            do throws(ContentOrigin.Failure) {
                try origin.follow(cancellation) { result in
                    notify(result)
                    news.update { hasNews = true }
                } failed: { failure in
                    complain("\(failure.description); what was there is served, and it is tried again each minute")
                }
            } catch {
                complain(error.description)
                // The service manager restarts it; without a scan it would serve an outdated index.
                exit(1)
            }
        } catch {
            complain(error.description)
            exit(1)
        }
    }

    private static func notify(_ result: ContentOrigin.ScanResult) {
        var text = "\(result.tracks) tracks, \(result.read) new or changed"
        if result.gone > 0 { text += ", \(result.gone) gone" }
        if result.playlists > 0 { text += ", \(result.playlists) playlists changed" }
        if result.problems > 0 { text += ", \(result.problems) not readable" }
        say(text)
    }

    private static func measure(_ origin: ContentOrigin) {
        do throws(ContentOrigin.Failure) {
            let measured = try origin.measureLoudness()
            if measured > 0 { say("measured the loudness of \(measured) tracks") }
        } catch {
            complain(error.description)
        }
    }

    /// Blocks SIGINT and SIGTERM, which the main thread waits for.
    private static func blockedSignals() -> sigset_t {
        var set = sigset_t()
        sigemptyset(&set)
        sigaddset(&set, SIGINT)
        sigaddset(&set, SIGTERM)
        pthread_sigmask(SIG_BLOCK, &set, nil)
        return set
    }

    private static func say(_ text: String) {
        print(text)
        fflush(nil)
    }

    private static func complain(_ text: String) {
        FileHandle.standardError.write(Data("tonearm-origin: \(text)\n".utf8))
    }
}
