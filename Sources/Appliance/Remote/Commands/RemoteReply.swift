/// What a request that was carried out answers. A protocol writes it down; it adds nothing.
enum RemoteReply: Equatable {
    case done
    case status(DaemonStatus)
    /// Of the program.
    case version(String)
    /// What holds after the change.
    case volume(percent: Int, isMuted: Bool)
    /// What holds after the change.
    case shuffle(isOn: Bool)
    case page(QueuePage)
    /// Music was brought into the queue.
    case added(Addition)
    /// Music is kept for the next request of the client.
    case collected(count: Int, skipped: Int)
    /// How many entries were removed.
    case removed(Int)
    case settings([SettingReport])
    /// A setting was changed.
    /// - Parameter inForce: false when it takes effect at the next start.
    case settingChanged(inForce: Bool)

    /// A part of the queue, in the order of playing.
    struct QueuePage: Equatable {
        /// Of the whole queue.
        var count: Int
        /// The index of the first entry of the page.
        var start: Int
        var entries: [QueueEntry]
        var current: EntryID?
    }

    /// What came into the queue.
    struct Addition: Equatable {
        /// The ids of the other entries follow without a gap.
        var first: EntryID?
        var count: Int
        /// Names below folders that could not be read.
        var skipped: Int
    }

    /// A setting as it is in force.
    struct SettingReport: Equatable {
        var name: SettingName
        /// As the file writes it.
        var value: String
        /// Where the value comes from, for a person.
        var origin: String
        /// Whether a change takes effect at the next start.
        var needsRestart: Bool

        init(_ name: SettingName, of configuration: Configuration) {
            self.name = name
            value = configuration.written(name)
            origin = configuration.originText(name)
            needsRestart = !name.setting.changesWhileRunning
        }
    }
}
