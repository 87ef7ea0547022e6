import Queue

/// A request that is carried out at once, on the daemon's thread.
package enum ImmediateRequest: Equatable, Sendable {
    case status
    case version
    /// A command without arguments: pause, next, power-off.
    case command(ApplianceCommand)
    case play(EntryPlace?)
    case seek(Change)
    /// The volume in percent.
    case volume(Change)
    /// Mutes or unmutes; nil toggles.
    case mute(Bool?)
    /// Switches shuffle; nil toggles.
    case shuffle(Bool?)
    case repeatMode(RepeatMode)
    /// A page of the queue, in the order of playing, from index `from` on.
    case queue(from: Int, count: Int)
    case queueMove(EntryID, to: Int)
    case queueRemove(EntrySelection)
    case queueClear
    /// - Parameter isHeld: whether the focus lasts only while the client is connected.
    case focus(FocusLevel, isHeld: Bool)
    case power(PowerState)
    /// Reads a setting; nil for all settings.
    case configurationGet(SettingName?)
    case configurationSet(SettingName, String)
    case configurationUnset(SettingName)
    /// The numbers of the outbox of events.
    case events

    /// A change of a number: a new value, or a difference.
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
}

/// The reply to a request, and the condition under which the effect of the request is complete.
package struct RequestOutcome {
    package enum Completion {
        case atOnce
        /// The state is on the medium.
        case written
        /// The state is on the medium. Adding the music took much memory, which is then returned to the system.
        case musicWritten
        /// The sound device is taken or released.
        case focusCarriedOut
    }

    package var reply: RemoteReply
    package var completion = Completion.atOnce

    package init(reply: RemoteReply, completion: Completion = .atOnce) {
        (self.reply, self.completion) = (reply, completion)
    }
}
