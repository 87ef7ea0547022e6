import PCM

extension PlaybackStateMachine {
    /// A request of the user, or a report of a part of the engine.
    package enum Event: Equatable {
        // From the public API.
        case load(MediaProduct, ItemID)
        case setNext(MediaProduct?, ItemID)
        case play
        case pause
        case seek(seconds: Double)
        case skipToNext
        case reset

        // From an item's pipeline.
        case opened(ItemID, PlaybackContext)
        /// The item's audio now begins at another position.
        case repositioned(ItemID)
        /// Nothing more will be decoded. `hasFrames`: some frames were decoded, and may not have been heard yet.
        case failed(ItemID, PlayerError, hasFrames: Bool)
        /// The item's source has begun a new playback session.
        case sessionRenewed(ItemID, String)
        /// All of the item's content has arrived, or the item needs no network.
        case fetched(ItemID)

        // From the renderer.
        case running(generation: UInt64)
        case starved(generation: UInt64)
        case deviceLost(generation: UInt64)
        /// The first frame of the next item is heard.
        case heard(ItemID)
        /// The last frame of the item was heard and nothing followed.
        case ended(ItemID)
        case qualityChanged(ItemID, PlaybackContext)
        /// The way in which the item's channels are or will be adapted to the device; nil for none.
        case adapted(ItemID, ChannelAdaptation?)
        /// The item was decoded again, and has this context. Only the next item is changed at once.
        case decodedAgain(ItemID, PlaybackContext)

        /// Another device has begun to play with the same subscription.
        case privilegesRevoked(otherDevice: String?)

        /// The second that `watchStart` began has passed.
        case startIsLate(generation: UInt64)
    }

    /// An action that follows from an event.
    package enum Effect: Equatable {
        /// Start opening the item's source. `isNext`: it was requested as the next product.
        case open(ItemID, MediaProduct, isNext: Bool = false)
        /// Stop the item's work and free it.
        case close(ItemID)
        /// Decode the item's audio from this position on, in seconds.
        case seek(ItemID, seconds: Double)
        /// No more frames will come.
        case finish(ItemID)

        /// Let the output begin with this item, and drop its old streams.
        case begin(ItemID)
        /// Set the item that follows in the output.
        case follow(ItemID?)
        case run(generation: UInt64)
        case hold
        /// Drop everything; with `releaseDevice`, free the device for other programs.
        case silence(releaseDevice: Bool)

        case send(PlaybackMessage)
        /// Report `.startIsLate` in a second. Replaces an earlier watch.
        case watchStart(generation: UInt64)
    }
}
