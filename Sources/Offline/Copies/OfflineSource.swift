import Database
import Media
import Platform
import Playback
import Streaming

/// The source of offline copies: they play without any request (docs/playback.md, 16.7).
///
/// Thread: `open` is called on a decoder's thread, and blocks on the medium.
public final class OfflineSource: Sendable {
    private let store: OfflineStore
    private let clock: TrustedClock
    private let foundDamaged: DamageReports.Receiver

    /// - Parameter foundDamaged: called with a product whose offline copy is damaged.
    init(_ store: OfflineStore, clock: TrustedClock, foundDamaged: @escaping DamageReports.Receiver) {
        self.store = store
        self.clock = clock
        self.foundDamaged = foundDamaged
    }

    /// Opens a product at the service instead of its offline copy; nil when that is not possible now.
    package typealias Replacement = () throws(PlayerError) -> (any AudioDecoder)?

    /// Opens the offline copy of a product.
    /// - Parameter otherwise: opens the product at the service; nil in offline mode and without a network. Playback
    ///   continues there when a part of the offline copy cannot be read.
    /// - Returns: nil when there is no offline copy, or it cannot be read and `otherwise` can open the product.
    /// - Throws: `.notAllowed` when the offline copy is not valid any more; `.unexpected` when the database cannot be
    ///   read and `otherwise` is nil; the error of opening the copy.
    package func open(
        _ product: MediaProduct, cancellation: Cancellation, medium: MediumAccess,
        otherwise: Replacement?
    ) throws(PlayerError) -> OpenedProduct? {
        guard let address = ServiceAddress(product.productId) else { return nil }
        // The content whose file could not be opened.
        var failed: [UInt8]?
        while true {
            guard let item = try item(address, product, medium, mustRead: otherwise == nil) else { return nil }
            guard item.validity.holds(at: clock.seconds) else {
                throw PlayerError(
                    .notAllowed, code: "a4",
                    message:
                        "\(product.productId): its offline copy is not valid any more. It is validated as soon as the "
                        + "service can be reached.",
                    mediaProduct: product)
            }
            if item.isDamaged, otherwise != nil { return nil }
            do throws(MediaError) {
                let decoder = try open(item, cancellation, medium)
                if item.isAutomatic { countPlay(of: address) }
                return opened(item, restartable(decoder, item, product, otherwise))
            } catch {
                guard error.isOfCopy else { throw PlayerError(error, product) }
                guard item.content == failed else {
                    // It may have been replaced after its row was read.
                    failed = item.content
                    continue
                }
                foundDamaged(address, item.content, "a part of an offline copy cannot be read")
                if otherwise != nil { return nil }
                throw PlayerError(error, product)
            }
        }
    }

    /// - Parameter mustRead: whether an unreadable database is an error, instead of a missing copy.
    private func item(
        _ address: ServiceAddress, _ product: MediaProduct, _ medium: MediumAccess, mustRead: Bool
    ) throws(PlayerError) -> OfflineItem? {
        let stored = medium.waiting {
            store.waitToRead { (rows) throws(DatabaseError) -> (item: OfflineItem?, isThere: Bool) in
                let item = try rows.item(address)
                if item != nil { return (item, true) }
                return (nil, try rows.stored(address) != nil)
            }
        }
        if let stored, stored.item == nil, stored.isThere, mustRead {
            throw PlayerError(.source(.integrity(reason: "the record of the offline copy is damaged")), product)
        }
        if stored == nil, mustRead {
            throw PlayerError(
                .unexpected, code: "a5",
                message: "\(product.productId): the list of offline copies cannot be read. Check the medium with the "
                    + "player's state.",
                mediaProduct: product)
        }
        return stored?.item
    }

    private func open(
        _ item: OfflineItem, _ cancellation: Cancellation, _ medium: MediumAccess
    ) throws(MediaError) -> any AudioDecoder {
        var licenses: ContentKeys?
        if let sealed = item.sealedLicense {
            guard let license = store.open(sealed, for: item.content).flatMap({ OfflineLicense(bytes: $0) }) else {
                throw .source(.integrity(reason: "this device does not have its license any more"))
            }
            licenses = ContentKeys(license.keys)
        }
        let copy = try medium.waiting { () throws(MediaError) in try OfflineCopyBytes(item, store) }
        let bytes = MediumByteSource(copy, medium)
        return try item.received.parts.open(bytes, cancellation: cancellation) { [licenses] _ in licenses }
    }

    private func restartable(
        _ decoder: any AudioDecoder, _ item: OfflineItem, _ product: MediaProduct,
        _ otherwise: Replacement?
    ) -> RestartingDecoder {
        let quality = item.received.audioQuality
        return RestartingDecoder(RestartingDecoder.Content(decoder, audioQuality: quality)) {
            [foundDamaged] (_) throws(PlayerError) in
            foundDamaged(item.product, item.content, "a part of an offline copy cannot be read")
            guard let otherwise, let decoder = try otherwise() else {
                throw PlayerError(.source(.integrity(reason: "a part of an offline copy is damaged")), product)
            }
            return RestartingDecoder.Content(decoder, audioQuality: quality)
        }
    }

    private func opened(_ item: OfflineItem, _ decoder: RestartingDecoder) -> OpenedProduct {
        let received = item.received
        return OpenedProduct(
            decoder: decoder, fetching: decoder, productId: received.product.text,
            assetPresentation: received.assetPresentation, audioMode: received.audioMode,
            videoQuality: received.videoQuality, replayGain: received.replayGain)
    }

    private func countPlay(of product: ServiceAddress) {
        let now = clock.seconds
        store.write(answerOn: nil) { (rows) throws(DatabaseError) in
            try rows.played(product, now: now)
        } _: { _ in
        }
    }
}

extension MediaError {
    /// Whether the file of the offline copy is the reason: it is missing, or differs from the written one.
    fileprivate var isOfCopy: Bool {
        switch self {
        case .source(.integrity), .notAudio, .damaged, .empty: true
        case .source(.medium(let error)): error.isMissingFile
        default: false
        }
    }
}
