import Queue

/// A request of a client, independent of the protocol. `docs/control.md` describes all requests.
package enum RemoteRequest: Equatable, Sendable {
    case status
    case version
    case subscribe(RemoteEventSet)
    case unsubscribe(RemoteEventSet)
    /// A command without arguments: pause, next, power-off.
    case command(ApplianceCommand)
    case play(EntryPlace?)
    case seek(Change)
    /// The volume in percent.
    case volume(Change)
    /// Mutes or unmutes; nil: toggles.
    case mute(Bool?)
    /// Switches shuffle; nil: toggles.
    case shuffle(Bool?)
    case repeatMode(RepeatMode)
    /// A page of the queue, in the order of playing, from index `from` on.
    case queue(from: Int, count: Int)
    /// The music at these absolute paths is stored for the next request of this client that adds music.
    case collect([String])
    /// The music at these absolute paths is added to the queue, after the music that was collected.
    case music([String], MusicPlace)
    case queueMove(EntryID, to: Int)
    case queueRemove(EntrySelection)
    case queueClear
    /// - Parameter isHeld: only while the client is connected.
    case focus(FocusLevel, isHeld: Bool)
    case power(PowerState)
    /// Reads a setting; nil: all settings.
    case configurationGet(SettingName?)
    case configurationSet(SettingName, String)
    case configurationUnset(SettingName)
    /// The numbers of the outbox of events.
    case events
    /// A request about the login to the content service.
    case serviceLogin(ServiceLogin.Request)
    case wifi(WiFiRequest)
    case update(UpdateRequest)
    /// The sound cards of the machine.
    case devices
    /// A request about offline copies and downloads.
    case download(DownloadRequest)
    /// A request about measured loudness.
    case loudness(LoudnessRequest)
    /// A request about the library.
    case library(LibraryRequest)
    /// A request about stored playlists.
    case playlist(PlaylistRequest)
    /// The music at these absolute paths is added to a stored playlist, after the music that was collected.
    case playlistAdd([String], to: String)

    /// A change to a value, or by a difference.
    package enum Change: Equatable, Sendable {
        case to(Double)
        case by(Double)
    }

    /// An entry of the queue.
    package enum EntryPlace: Equatable, Sendable {
        case id(EntryID)
        /// The index in the order of playing, from 0.
        case index(Int)
    }

    /// Several entries of the queue.
    package enum EntrySelection: Equatable, Sendable {
        case ids([EntryID])
        /// `count` entries from the index `from` on, in the order of playing; indices beyond the end are left out.
        case range(from: Int, count: Int)
    }

    /// Where music is added to the queue.
    package enum MusicPlace: Equatable, Sendable {
        /// Replaces all entries.
        /// - Parameters:
        ///   - start: the index of the current entry in the new music; nil for the first in the order of playing.
        ///   - plays: nil for as it is now.
        case all(start: Int?, plays: Bool?)
        case end
        /// After the current entry.
        case next
        /// The index of the first added entry in the order of playing.
        case index(Int)
    }
}
