/// A request whose answer comes later: it waits for a medium, the network or the system.
package enum LaterRequest: Equatable, Sendable {
    /// About offline copies and downloads.
    case download(DownloadRequest)
    /// About measured loudness.
    case loudness(LoudnessRequest)
    case library(LibraryRequest)
    /// About stored playlists.
    case playlist(PlaylistRequest)
    /// The sound cards of the machine.
    case devices
    /// About the login to the content service.
    case serviceLogin(ServiceLogin.Request)
    case wifi(WiFiRequest)
    case update(UpdateRequest)
    /// The machine's name, addresses, room and last report.
    case machine
}
