import Queue

extension QueueConductor {
    /// Adds music to the queue, and notes the media that it lies on.
    /// - Returns: the first new entry, which the others follow; nil without music.
    package func add(
        _ music: FoundMusic, _ position: RemoteRequest.MusicPlace
    ) throws(PlayQueueError) -> EntryID? {
        let products = music.products
        if case .all(let start, let plays) = position {
            try set(products, startingAt: start, playing: plays ?? wantsToPlay)
            try edit { queue throws(PlayQueueError) in queue.note(media: music.mountPoints) }
            return contents.playOrder.min()
        }
        var ids: [EntryID] = []
        try edit { queue throws(PlayQueueError) in
            switch position {
            case .all: break
            case .end: ids = try queue.add(products)
            case .next: ids = try queue.insertNext(products)
            case .index(let index): ids = try queue.insert(products, at: index)
            }
            queue.note(media: music.mountPoints)
        }
        return ids.first
    }
}
