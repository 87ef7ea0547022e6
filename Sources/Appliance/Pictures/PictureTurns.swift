/// How a request for a thumbnail ends.
package enum PictureResult: Equatable, Sendable {
    case made(Thumbnail)
    case refused(PictureRefusal)
    /// The picture's file is gone, or cannot be read.
    case unreadable
    /// A resource of the system is missing. A later request may succeed.
    case failed
    /// There is no program that makes thumbnails.
    case off
}

/// The pictures that wait for their thumbnails, as a value. One thumbnail is made at a time, in the order of the
/// requests, and once for all clients that wait for it.
///
///     turns.arrive(key, picture)   // true: start the worker
///     turns.next()                 // the picture to make; nil: the worker ends
///     turns.finish(key, result)
///     turns.take(key)              // the result, once for each client
struct PictureTurns {
    private struct Turn {
        let key: ThumbnailKey
        let picture: StoredPicture
        /// The clients that wait.
        var waiting = 1
        var isBegun = false
        var result: PictureResult?
    }

    private var turns: [Turn] = []
    private var hasWorker = false
    private var isOver = false

    /// The number of clients that wait.
    var waiting: Int { turns.reduce(0) { $0 + $1.waiting } }

    /// Notes that a client waits for a thumbnail.
    /// - Returns: whether a worker has to start.
    mutating func arrive(_ key: ThumbnailKey, _ picture: StoredPicture) -> Bool {
        if let index = index(of: key) {
            turns[index].waiting += 1
        } else {
            turns.append(Turn(key: key, picture: picture, result: isOver ? .failed : nil))
        }
        defer { hasWorker = hasWorker || !isOver }
        return !hasWorker && !isOver
    }

    /// Returns the picture whose thumbnail the worker makes next. Returns nil, which ends the worker, when none waits
    /// or the server ends.
    mutating func next() -> (key: ThumbnailKey, picture: StoredPicture)? {
        guard let index = turns.firstIndex(where: { !$0.isBegun && $0.result == nil }) else {
            hasWorker = false
            return nil
        }
        turns[index].isBegun = true
        return (turns[index].key, turns[index].picture)
    }

    mutating func finish(_ key: ThumbnailKey, _ result: PictureResult) {
        guard let index = index(of: key) else { return }
        if turns[index].waiting == 0 { turns.remove(at: index) } else { turns[index].result = result }
    }

    func hasResult(_ key: ThumbnailKey) -> Bool { index(of: key).flatMap { turns[$0].result } != nil }

    /// Returns the result for a client, which no longer waits.
    /// - Returns: nil when there is no result yet. A picture for which no client waits any more is not begun.
    mutating func take(_ key: ThumbnailKey) -> PictureResult? {
        guard let index = index(of: key) else { return nil }
        let result = turns[index].result
        turns[index].waiting -= 1
        if turns[index].waiting == 0, result != nil || !turns[index].isBegun { turns.remove(at: index) }
        return result
    }

    /// Fails all waiting thumbnails, because the worker could not start.
    mutating func loseWorker() {
        hasWorker = false
        fail()
    }

    /// Begins no picture from now on, because the server ends.
    mutating func end() {
        isOver = true
        fail()
    }

    private mutating func fail() {
        for index in turns.indices where turns[index].result == nil { turns[index].result = .failed }
    }

    private func index(of key: ThumbnailKey) -> Int? { turns.firstIndex { $0.key == key } }
}

/// The pictures of which no thumbnail can be made, so that none is tried again.
struct RefusedPictures {
    /// The maximum number of remembered pictures. The oldest one is forgotten first.
    static let limit = 1000

    private var refused: [(picture: PictureIdentity, refusal: PictureRefusal)] = []

    subscript(_ picture: PictureIdentity) -> PictureRefusal? { refused.first { $0.picture == picture }?.refusal }

    mutating func add(_ picture: PictureIdentity, _ refusal: PictureRefusal) {
        guard self[picture] == nil else { return }
        if refused.count == Self.limit { refused.removeFirst() }
        refused.append((picture, refusal))
    }
}
