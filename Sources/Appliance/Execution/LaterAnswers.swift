import Platform
import Player
import Queue

/// The parts that carry out requests whose answers follow later.
///
/// Thread: the daemon's.
package struct LaterAnswers {
    var downloads: DownloadExecution
    let loudness: LoudnessExecution
    /// nil without music folders.
    let library: LibraryConductor?
    package let playlists: PlaylistExecution
    /// nil without a content service.
    let serviceLogin: ServiceLogin?
    let system: SystemRequests
    private let queue: QueueConductor

    init(_ daemon: Daemon) {
        downloads = DownloadExecution(
            engine: daemon.player.offlineEngine, loop: daemon.loop, problem: daemon.player.offlineProblem)
        loudness = LoudnessExecution(storage: daemon.environment.storage, loop: daemon.loop)
        library = daemon.library
        playlists = PlaylistExecution(library: daemon.library, queue: daemon.queue, loop: daemon.loop) {
            daemon.observers.notify(.playlists(name: $0))
        }
        serviceLogin = daemon.serviceLogin
        system = daemon.system
        queue = daemon.queue
    }

    /// Carries out a request.
    /// - Parameter answer: called once, at once or later.
    /// - Returns: a closure that cancels the work; nil when it cannot be cancelled.
    package func perform(
        _ request: LaterRequest, _ answer: @escaping (Result<RemoteReply, RemoteFailure>) -> Void
    ) -> (() -> Void)? {
        switch request {
        case .download(let request): return downloads.perform(request) { answer($0.map { .download($0) }) }
        case .loudness(let request): loudness.perform(request, answer)
        case .library(let request): perform(request, answer)
        case .playlist(let request): playlists.perform(request) { answer($0.map { .playlist($0) }) }
        case .devices: system.devices.perform(answer)
        case .serviceLogin(let request):
            guard let serviceLogin else {
                answer(.success(.serviceLogin(ServiceLoginStatus())))
                return nil
            }
            serviceLogin.perform(request) { answer(.success(.serviceLogin($0))) }
        case .machine: system.machine.perform(answer)
        case .wifi(let request):
            guard let wifi = system.wifi else {
                let message = "Wi-Fi is not set up by requests on this machine: no [network] wifi-folder is configured"
                answer(.failure(RemoteFailure(.noWiFi, message)))
                return nil
            }
            wifi.perform(request, answer)
        case .update(let request):
            guard let updates = system.updates else {
                let message = "this machine is not updated by requests: no [update] folder is configured"
                answer(.failure(RemoteFailure(.noUpdates, message)))
                return nil
            }
            updates.perform(request, answer)
        }
        return nil
    }

    private func perform(
        _ request: LibraryRequest, _ answer: @escaping (Result<RemoteReply, RemoteFailure>) -> Void
    ) {
        guard let library else {
            return answer(.failure(RemoteFailure(.system, "the library cannot be used: see the problems")))
        }
        do throws(RemoteFailure) {
            library.perform(try filled(request)) { answer($0.map { .library($0) }) }
        } catch {
            answer(.failure(error))
        }
    }

    /// Returns the request, with the current entry filled in where the request refers to it.
    private func filled(_ request: LibraryRequest) throws(RemoteFailure) -> LibraryRequest {
        guard case .favourite(nil, let isOn) = request else { return request }
        guard let product = queue.contents.current.flatMap({ queue.contents.product($0) }) else {
            throw RemoteFailure(.nothingCurrent, "no entry is current: name a path")
        }
        return .favourite(path: product.productId, isOn: isOn)
    }
}
