import Output
import Player
import Queue

/// The result of a request that was carried out. A protocol only encodes it.
package enum RemoteReply: Equatable {
    case done
    case status(DaemonStatus)
    /// The version of the program.
    case version(String)
    /// The values after the change.
    case volume(percent: Int, isMuted: Bool)
    /// The value after the change.
    case shuffle(isOn: Bool)
    case page(QueuePage)
    /// Music was added to the queue.
    case added(Addition)
    /// Music is stored for the next request of the client.
    case collected(count: Int, skipped: Int)
    /// The number of removed entries.
    case removed(Int)
    case settings([SettingReport])
    /// A setting was changed.
    /// - Parameter inForce: false when it takes effect at the next start.
    case settingChanged(inForce: Bool)
    case download(DownloadReply)
    /// nil without a content service.
    case events(EventStatus?)
    case devices([SoundCard])
    case serviceLogin(ServiceLoginStatus)
    case wifi(WiFiStatus)
    case update(UpdateStatus)
    case machine(MachineStatus)
    /// The known loudness of each file of the request; nil for a file that was not measured.
    case known([KnownLoudness?])
    case library(LibraryReply)
    case playlist(PlaylistReply)

    /// A part of the queue, in the order of playing.
    package struct QueuePage: Equatable {
        /// The number of entries in the whole queue.
        package var count: Int
        /// The index of the first entry of the page.
        package var start: Int
        package var entries: [QueueEntry]
        package var current: EntryID?
    }

    /// The entries that were added.
    package struct Addition: Equatable {
        /// The id of the first entry. The other entries have the following ids, without a gap.
        package var first: EntryID?
        package var count: Int
        /// The number of names below folders that could not be read.
        package var skipped: Int
    }

    /// A setting and its value in force.
    package struct SettingReport: Equatable {
        package var name: SettingName
        /// The value in the form of a configuration file.
        package var value: String
        /// The origin of the value, for the user.
        package var origin: String
        /// Whether a change takes effect at the next start.
        package var needsRestart: Bool
        package var access: SettingAccess

        init(_ name: SettingName, of configuration: Configuration) {
            self.name = name
            value = configuration.written(name)
            origin = configuration.originText(name)
            needsRestart = !name.setting.changesWhileRunning
            access = name.setting.access
        }
    }
}
