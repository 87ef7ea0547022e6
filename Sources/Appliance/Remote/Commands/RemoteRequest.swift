/// What a client asks for, whatever protocol it speaks. `docs/control.md` describes all requests.
public enum RemoteRequest: Equatable, Sendable {
    case status
    case version
    case subscribe(RemoteEventSet)
    case unsubscribe(RemoteEventSet)
    /// A word is enough: pause, next, power-off.
    case command(ApplianceCommand)
    case play(EntryPlace?)
    case seek(Change)
    /// In percent.
    case volume(Change)
    /// nil: toggle.
    case mute(Bool?)
    /// nil: toggle.
    case shuffle(Bool?)
    case repeatMode(RepeatMode)
    /// A page of the queue, in the order of playing, from index `from` on.
    case queue(from: Int, count: Int)
    /// The music at these absolute paths is kept for the next request of the same client that brings music.
    case collect([String])
    /// The music at these absolute paths comes into the queue, behind what was collected.
    case music([String], MusicPlace)
    case queueMove(EntryID, to: Int)
    case queueRemove(EntrySelection)
    case queueClear
    /// - Parameter isHeld: only for as long as the client is connected.
    case focus(FocusLevel, isHeld: Bool)
    case power(PowerState)
    /// nil for all.
    case configurationGet(SettingName?)
    case configurationSet(SettingName, String)
    case configurationUnset(SettingName)

    /// To a value, or by so much.
    public enum Change: Equatable, Sendable {
        case to(Double)
        case by(Double)
    }

    /// An entry of the queue.
    public enum EntryPlace: Equatable, Sendable {
        case id(EntryID)
        /// Its place in the order of playing, from 0.
        case index(Int)
    }

    /// Several entries of the queue.
    public enum EntrySelection: Equatable, Sendable {
        case ids([EntryID])
        /// `count` entries from the index `from` on, in the order of playing; what reaches beyond the end is left out.
        case range(from: Int, count: Int)
    }

    /// Where music comes into the queue.
    public enum MusicPlace: Equatable, Sendable {
        /// In place of all that is there.
        /// - Parameters:
        ///   - start: the index of what becomes current among what comes; nil for the first to be played.
        ///   - plays: nil for as it is now.
        case all(start: Int?, plays: Bool?)
        case end
        /// Behind the current entry.
        case next
        /// The index of the first one in the order of playing.
        case index(Int)
    }
}
