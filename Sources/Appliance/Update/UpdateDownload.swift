import Network
import Platform
import Synchronization

/// Downloads a bundle from a web server to the data partition. The bundle's signature is checked by the installation;
/// the server's certificate is checked here, as for every other transfer.
///
///     let download = UpdateDownload(of: "https://updates.example/tonearm.update")
///     defer { download.remove() }
///     try download.run(over: network) { done, total in … }
///
/// Thread: one that may block.
public struct UpdateDownload {
    /// Why the bundle is not complete.
    public enum Failure: Error, Equatable, Sendable {
        /// This system cannot be updated.
        case image(UpdateError)
        case transfer(TransferError)
        /// The server answered with this status.
        case status(Int)
        /// The data partition is full, or has less room than the bundle needs.
        case noRoom
        /// It has more bytes than a bundle can have.
        case tooLarge
        case unwritable(SystemError)
    }

    /// The most bytes of a bundle: four times as many as a slot has.
    static let sizeLimit: Int64 = 256 << 20

    /// The path of the bundle until it is installed.
    public let path: String
    private let address: String
    private let root: String

    public static func isURL(_ text: String) -> Bool {
        text.utf8.starts(with: "http://".utf8) || text.utf8.starts(with: "https://".utf8)
    }

    /// - Parameter root: the folder of the root file system; empty outside of tests.
    public init(of address: String, root: String = "") {
        self.address = address
        self.root = root
        path = root + "/data/system/update.download"
    }

    /// Blocks until the bundle is complete. An earlier download is replaced.
    /// - Parameter progress: gets the received bytes and the length of the bundle, once the server has sent it; in any
    ///   case at the end of a complete bundle. On the calling thread.
    public func run(
        over network: Network, progress: (_ done: Int64, _ total: Int64) -> Void
    ) throws(Failure) {
        do throws(UpdateError) { _ = try ImageFiles(root: root) } catch { throw .image(error) }
        remove()
        let sink: BundleFile
        do throws(SystemError) { sink = try BundleFile(path) } catch { throw Failure(error) }
        let transfer = network.start(TransferRequest(url: address), into: sink)
        while !sink.isOver {
            _ = sink.wakeUp.wait(milliseconds: -1)
            sink.wakeUp.clear()
            if let total = sink.length { progress(sink.count, total) }
        }
        // A failure of the card ends the transfer too.
        transfer.cancel()
        if let failure = sink.failure { throw failure }
        // The last bytes may have arrived together with the end.
        if let total = sink.length { progress(sink.count, total) }
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
        case .image(let error): error.code
        case .noRoom: "noRoom"
        case .transfer, .status, .tooLarge, .unwritable: "download"
        }
    }

    /// The reason, without the address.
    public var description: String {
        switch self {
        case .image(let error): error.description
        case .transfer(let error): error.description
        case .status(404): "the server has no such file (status 404). Is the address right?"
        case .status(let status): "the server answers with status \(status)"
        case .noRoom: "the card is full. Delete some music."
        case .tooLarge: "the file is larger than any bundle. Is the address right?"
        case .unwritable(let error): error.description
        }
    }

    fileprivate init(_ error: SystemError) {
        self = error.code == SystemError.outOfSpace ? .noRoom : .unwritable(error)
    }
}

/// Writes the body of an answer to a file.
///
/// Thread: the network's writes. `@unchecked Sendable` is safe because other threads read only atomics and values that
/// were set before `isOver`.
private final class BundleFile: TransferSink, @unchecked Sendable {
    /// Readable when there is new progress.
    let wakeUp: WakeUp
    private let file: File
    private let folder: String
    private let ended = Atomic(false)
    private let written = Atomic<Int64>(0)
    private let announced = Atomic<Int64>(0)
    /// Set before `isOver`; read after it.
    private(set) var failure: UpdateDownload.Failure?

    init(_ path: String) throws(SystemError) {
        wakeUp = try WakeUp()
        file = try File(creating: path, mode: 0o600)
        folder = Folder.containing(path)
    }

    var isOver: Bool { ended.load(ordering: .acquiring) }
    var count: Int64 { written.load(ordering: .relaxed) }
    /// The length in bytes; nil while it is unknown.
    var length: Int64? {
        let length = announced.load(ordering: .relaxed)
        return length > 0 ? length : nil
    }

    func began(_ head: ResponseHead) {
        guard head.status == 200 else { return finish(.status(head.status)) }
        guard let length = head.contentLength else { return }
        announced.store(length, ordering: .relaxed)
        // Do not begin a download that cannot fit.
        do throws(SystemError) { if try Folder.freeBytes(at: folder) < length { finish(.noRoom) } } catch {
            finish(.unwritable(error))
        }
        if !isOver, length > UpdateDownload.sizeLimit { finish(.tooLarge) }
    }

    func received(_ bytes: UnsafeRawBufferPointer) -> SinkAnswer {
        if isOver { return .enough }
        guard count + Int64(bytes.count) <= UpdateDownload.sizeLimit else {
            finish(.tooLarge)
            return .enough
        }
        do throws(SystemError) { try file.write(bytes, at: count) } catch {
            finish(UpdateDownload.Failure(error))
            return .enough
        }
        written.wrappingAdd(Int64(bytes.count), ordering: .relaxed)
        wakeUp.signal()
        return .more
    }

    func ended(_ error: TransferError?) { if !isOver { finish(error.map { .transfer($0) }) } }

    private func finish(_ failure: UpdateDownload.Failure?) {
        self.failure = failure
        ended.store(true, ordering: .releasing)
        wakeUp.signal()
    }
}
