import Platform
import Player

/// The parts that carry out requests whose answers follow later.
///
/// Thread: the daemon's.
struct LaterAnswers {
    var downloads: DownloadExecution
    let loudness: LoudnessExecution
    /// nil without music folders.
    let library: LibraryConductor?
    let playlists: PlaylistExecution
    /// nil without a content service.
    let serviceLogin: ServiceLogin?
    let system: SystemRequests

    init(_ daemon: Daemon) {
        downloads = DownloadExecution(
            engine: daemon.player.offlineEngine, loop: daemon.loop, problem: daemon.player.offlineProblem)
        loudness = LoudnessExecution(storage: daemon.environment.storage, loop: daemon.loop)
        library = daemon.library
        playlists = PlaylistExecution(library: daemon.library, queue: daemon.queue, loop: daemon.loop) {
            daemon.observers.tell(.playlists(name: $0))
        }
        serviceLogin = daemon.serviceLogin
        system = daemon.system
    }
}
