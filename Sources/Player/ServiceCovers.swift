import Offline
import Platform
import Streaming

/// The covers of the content service's products: those of offline copies, and others over the network.
///
/// Thread: any that may block; `end` any.
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
        // A copy of an earlier version has none yet.
        copies?.keep(picture, of: entry)
        return picture
    }

    public func end() { transfer.cancellation.cancel() }
}

/// Where covers of a content service come from; tests replace it.
///
/// Thread: any that may block; `end` any.
public protocol CoverSource: AnyObject, Sendable {
    /// Distinguishes the products of services.
    var service: String { get }
    /// The most milliseconds of a fetch.
    var patience: Int { get }
    /// Returns the path of the cover of an offline copy; nil without one.
    func copy(of entry: CatalogueEntry) -> String?
    /// Fetches a cover, and keeps it with the offline copy.
    func fetch(_ entry: CatalogueEntry) throws(CoverFailure) -> FetchedPicture
    /// Ends all that waits, for good.
    func end()
}
