import Offline
import Platform
import Streaming

/// The covers of the content service's products: those of offline copies, and others over the network.
///
/// Thread: any that may block; `end` may be called on any thread.
public final class ServiceCovers: CoverSource {
    /// The address of the service.
    public let service: String
    private let transfer: CoverTransfer
    private let copies: OfflineCovers?

    init(_ transfer: CoverTransfer, _ copies: OfflineCovers?, service: String) {
        (self.transfer, self.copies, self.service) = (transfer, copies, service)
    }

    public var patience: Int { transfer.patience }

    public func copy(of entry: CatalogueEntry) -> String? { copies?.path(of: entry) }

    public func fetch(_ entry: CatalogueEntry) throws(CoverFailure) -> FetchedPicture {
        let picture = try transfer.fetch(entry)
        // An offline copy made by an earlier version has no cover yet.
        copies?.keep(picture, of: entry)
        return picture
    }

    public func end() { transfer.cancellation.cancel() }
}

/// Where covers of a content service come from; tests replace it.
///
/// Thread: any that may block; `end` may be called on any thread.
public protocol CoverSource: AnyObject, Sendable {
    /// The address of the service, which distinguishes its products from those of other services.
    var service: String { get }
    /// The maximum duration of a fetch, in milliseconds.
    var patience: Int { get }
    /// Returns the path of the cover of an offline copy; nil without one.
    func copy(of entry: CatalogueEntry) -> String?
    /// Fetches a cover, and stores it with the offline copy, if there is one.
    func fetch(_ entry: CatalogueEntry) throws(CoverFailure) -> FetchedPicture
    /// Ends all fetches, and refuses later ones.
    func end()
}
