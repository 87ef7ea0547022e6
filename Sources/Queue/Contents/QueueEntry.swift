import Player

/// Identifies an entry of the play queue as long as the entry exists, across restarts and moves.
package struct EntryID: Hashable, Comparable, Sendable, BitwiseCopyable {
    /// The number, from 1. A later entry has a greater number.
    package let number: UInt32

    package init(_ number: UInt32) { self.number = number }

    package static func < (left: EntryID, right: EntryID) -> Bool { left.number < right.number }
}

/// The stored form of a media product: enough to request it again after a restart.
package struct QueuedProduct: Equatable, Sendable {
    package var productType: ProductType
    /// The product's id at its source; for local files the path.
    package var productId: String
    /// The origin of the request, which is passed through to the play log.
    package var sourceType: String?
    package var sourceId: String?
    /// Further attributes, which are passed through to the play log.
    package var extras: [String: String]

    package init(
        _ productType: ProductType = .track, _ productId: String, sourceType: String? = nil, sourceId: String? = nil,
        extras: [String: String] = [:]
    ) {
        self.productType = productType
        self.productId = productId
        self.sourceType = sourceType
        self.sourceId = sourceId
        self.extras = extras
    }

    /// The product for the playback engine.
    /// - Parameter referenceId: distinguishes this request from others for the same product.
    package func mediaProduct(referenceId: String) -> MediaProduct {
        MediaProduct(
            productType: productType, productId: productId, referenceId: referenceId, sourceType: sourceType,
            sourceId: sourceId, extras: extras)
    }
}

/// An entry of the play queue.
package struct QueueEntry: Equatable, Sendable {
    package let id: EntryID
    package let product: QueuedProduct

    package init(id: EntryID, product: QueuedProduct) {
        self.id = id
        self.product = product
    }
}

/// The repeat mode: which entry follows the last one, and the current one (docs/playback.md, 11).
package enum RepeatMode: UInt8, Equatable, Sendable, CaseIterable {
    /// No entry: playback ends with the last one.
    case off = 0
    /// The first entry follows the last.
    case all = 1
    /// The current entry follows itself.
    case one = 2

    /// Off, all, one, off…
    package var following: RepeatMode {
        switch self {
        case .off: .all
        case .all: .one
        case .one: .off
        }
    }
}

/// The reason why the queue could not be changed. Nothing was changed.
package enum PlayQueueError: Error, Equatable, Sendable {
    /// There is no such entry (any more).
    case noSuchEntry(EntryID)
    /// More entries than `limit` at once, or more than can be numbered without clearing the queue.
    case full(limit: Int)
    /// Product ids of more than `limit` bytes together.
    case idsTooLong(limit: Int)
    /// A product id of more than `limit` bytes.
    case productIdTooLong(limit: Int)
}

extension PlayQueueError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .noSuchEntry(let id): "no entry \(id.number) in the queue"
        case .full(let limit): "the queue is full (\(limit) entries)"
        case .idsTooLong(let limit): "the queue is full (the names of its entries take more than \(limit >> 20) MiB)"
        case .productIdTooLong(let limit): "a product id or path is longer than \(limit) bytes"
        }
    }
}
