import Network
import Platform

/// Downloads a bundle from a web server to the data partition. The head of the bundle is signed, and is checked before
/// the rest is fetched; nothing beyond the signed sizes is written. The server's certificate is checked as for every
/// other transfer.
///
///     let download = UpdateDownload(of: "https://updates.example/tonearm.update")
///     defer { download.remove() }
///     try download.run(over: network, cancellation: cancellation) { done, total in … }
///
/// Thread: one that may block.
public struct UpdateDownload {
    /// Why the bundle is not complete.
    public enum Failure: Error, Equatable, Sendable {
        /// The bundle is refused, this system cannot be updated, or the download was cancelled.
        case update(UpdateError)
        case transfer(TransferError)
        /// The server answered with this status.
        case status(Int)
        /// The data partition is full, or has less room than the bundle needs.
        case noRoom
        /// The answer has more bytes than any bundle.
        case tooLarge
        /// The answer has more bytes than its head states.
        case tooLong
        case unwritable(SystemError)
    }

    /// The most bytes of a bundle.
    static let sizeLimit = Int64(UpdateManifest.firstPiece) + UpdateManifest.slotSize

    /// The path of the bundle until it is installed.
    public let path: String
    private let address: String
    private let isForced: Bool
    private let localHosts: [String]?
    private let root: String

    /// Returns the hosts that may have an address in the local network when a client of the daemon has named the
    /// address: the host of the address if its name is local, and the host in the configuration.
    public static func localHosts(forClient address: String, _ configuration: Configuration) -> [String] {
        let named = Network.host(of: address).flatMap { Network.isLocal(host: $0) ? $0 : nil }
        let configured = configuration.updateAddress.flatMap { Network.host(of: $0.text) }
        return [named, configured].compactMap { $0 }
    }

    /// - Parameters:
    ///   - isForced: whether to download a version that is older than the running one.
    ///   - localHosts: the hosts that may have an address in the local network; nil for all.
    ///   - root: the folder of the root file system; empty outside of tests.
    public init(of address: String, isForced: Bool = false, localHosts: [String]? = nil, root: String = "") {
        self.address = address
        self.isForced = isForced
        self.localHosts = localHosts
        self.root = root
        path = root + "/data/system/update.download"
    }

    /// Blocks until the bundle is complete. An earlier download is replaced. The caller holds
    /// `UpdateInstallation.lock`.
    /// - Parameter progress: gets the received bytes and the length of the bundle, once they are known, and always at
    ///   the end of a complete bundle. Called on the calling thread.
    public func run(
        over network: Network, cancellation: Cancellation, progress: (_ done: Int64, _ total: Int64) -> Void
    ) throws(Failure) {
        let bundle = try newBundle()
        var request = TransferRequest(url: address, maximumBody: Self.sizeLimit)
        request.localHosts = localHosts
        let transfer = network.start(request, into: bundle)
        // A failure of the card ends the transfer too.
        defer { transfer.cancel() }
        while !bundle.isOver {
            if wait(for: bundle, cancellation) == .cancelled { throw .update(.cancelled) }
            bundle.wakeUp.clear()
            if let length = bundle.length { progress(bundle.count, length) }
        }
        if let failure = bundle.failure { throw failure }
        // The last bytes may have arrived together with the end.
        if let length = bundle.length { progress(bundle.count, length) }
    }

    private func newBundle() throws(Failure) -> DownloadedBundle {
        let image: ImageFiles
        do throws(UpdateError) { image = try ImageFiles(root: root) } catch { throw .update(error) }
        remove()
        do throws(SystemError) {
            return try DownloadedBundle(path) { [path, isForced] (head) throws(UpdateError) in
                let manifest = try UpdateManifest(authenticating: head, path: path, for: image, isForced: isForced)
                try manifest.checkFits(try UpdateSlot(image.otherSlot))
                return manifest
            }
        } catch {
            throw Failure(error)
        }
    }

    private func wait(for bundle: DownloadedBundle, _ cancellation: Cancellation) -> Cancellation.Outcome {
        // poll(2) fails only without memory.
        do throws(SystemError) {
            return try cancellation.wait(for: bundle.wakeUp.descriptor, .readable, milliseconds: -1)
        } catch {
            return .cancelled
        }
    }

    /// Removes the downloaded bundle.
    public func remove() {
        do throws(SystemError) { try Folder.removeFile(path) } catch { Log.warning("\(error)") }
    }
}

extension UpdateDownload.Failure: CustomStringConvertible {
    /// The code for programs, stable between versions.
    public var code: String {
        switch self {
        case .update(let error): error.code
        case .noRoom: "noRoom"
        case .tooLong: "tooLong"
        case .transfer(.localAddress): "localAddress"
        case .transfer, .status, .tooLarge, .unwritable: "download"
        }
    }

    /// The reason, without the address.
    public var description: String {
        switch self {
        case .update(let error): error.description
        case .transfer(let error): error.description
        case .status(404): "the server has no such file (status 404). Is the address right?"
        case .status(let status): "the server answers with status \(status)"
        case .noRoom: "the card is full. Delete some music."
        case .tooLarge: "the file is larger than any bundle. Is the address right?"
        case .tooLong: "the server sends more bytes than the update has. Is the address right?"
        case .unwritable(let error): error.description
        }
    }

    init(_ error: SystemError) {
        self = error.code == SystemError.outOfSpace ? .noRoom : .unwritable(error)
    }
}
