import Queue

/// A request of a client, independent of the protocol. `docs/control.md` describes all requests, and
/// `RemoteRequest.forms` is the table of their names and fields. Each case is carried out by one
/// part (docs/decisions/commands-apart-from-json.md).
package enum RemoteRequest: Equatable, Sendable {
    /// Sends these events to the client from now on. The answer is the status.
    case subscribe(RemoteEventSet)
    /// Stops sending these events. The answer is the status.
    case unsubscribe(RemoteEventSet)
    /// A request that `RequestExecution` carries out at once.
    case immediate(ImmediateRequest)
    /// Finds the music at these absolute paths, and then uses it. The music that was collected comes before it.
    case music([String], for: MusicUse)
    /// A request that `LaterAnswers` carries out, with a later answer.
    case later(LaterRequest)

    /// The use of the music that a request names.
    package enum MusicUse: Equatable, Sendable {
        /// The music is stored for the next request of this client that adds music.
        case collection
        case queue(MusicPlace)
        /// The name of a stored playlist.
        case playlist(String)
    }

    /// Where music is added to the queue.
    package enum MusicPlace: Equatable, Sendable {
        /// Replaces all entries.
        /// - Parameters:
        ///   - start: the index of the current entry in the new music; nil for the first entry in the order of playing.
        ///   - plays: whether to play; nil leaves that unchanged.
        case all(start: Int?, plays: Bool?)
        case end
        /// After the current entry.
        case next
        /// The index of the first added entry in the order of playing.
        case index(Int)
    }
}
