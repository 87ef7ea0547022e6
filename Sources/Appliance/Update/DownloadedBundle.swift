import Network
import Platform
import Synchronization

/// Writes the body of an answer to a file, up to the length that its signed head states.
///
/// Thread: the network's writes. `@unchecked Sendable` is safe because other threads read only atomics and values that
/// were set before `isOver`.
final class DownloadedBundle: TransferSink, @unchecked Sendable {
    /// Readable when there is new progress.
    let wakeUp: WakeUp
    private let file: File
    private let path: String
    private let check: ([UInt8]) throws(UpdateError) -> UpdateManifest
    /// The bytes of the signature and the manifest, until they are complete.
    private var head: [UInt8] = []
    /// The length that the server has announced.
    private var announced: Int64?
    private let ended = Atomic(false)
    private let written = Atomic<Int64>(0)
    /// The signed length; 0 until the head is checked.
    private let signed = Atomic<Int64>(0)
    /// Set before `isOver`; read after it.
    private(set) var failure: UpdateDownload.Failure?

    /// - Parameter check: checks the head of a bundle; called once, on the network's thread.
    init(
        _ path: String, check: @escaping @Sendable ([UInt8]) throws(UpdateError) -> UpdateManifest
    ) throws(SystemError) {
        wakeUp = try WakeUp()
        file = try File(creating: path, mode: 0o600)
        self.path = path
        self.check = check
    }

    var isOver: Bool { ended.load(ordering: .acquiring) }
    var count: Int64 { written.load(ordering: .relaxed) }
    /// The length in bytes; nil while it is unknown.
    var length: Int64? {
        let length = signed.load(ordering: .relaxed)
        return length > 0 ? length : nil
    }

    func began(_ head: ResponseHead) {
        if head.status != 200 { return finish(.status(head.status)) }
        announced = head.contentLength
    }

    func received(_ bytes: UnsafeRawBufferPointer) -> SinkAnswer {
        if isOver { return .enough }
        do throws(UpdateDownload.Failure) {
            if let length {
                try write(bytes, of: length)
            } else {
                let missing = min(UpdateManifest.firstPiece - head.count, bytes.count)
                head += bytes[..<missing]
                if head.count == UpdateManifest.firstPiece {
                    let length = try checkedLength()
                    try writeHead(of: length)
                    signed.store(length, ordering: .relaxed)
                    try write(UnsafeRawBufferPointer(rebasing: bytes[missing...]), of: length)
                }
            }
        } catch {
            finish(error)
            return .enough
        }
        wakeUp.signal()
        return .more
    }

    /// Checks the head before anything is written.
    /// - Returns: the signed length of the bundle.
    private func checkedLength() throws(UpdateDownload.Failure) -> Int64 {
        let manifest: UpdateManifest
        do throws(UpdateError) { manifest = try check(head) } catch { throw .update(error) }
        let length = Int64(UpdateManifest.firstPiece) + manifest.contentSize
        if let announced, announced > length { throw .tooLong }
        if let announced, announced < length { throw .update(.damaged(path: path)) }
        let free: Int64
        do throws(SystemError) { free = try Folder.freeBytes(at: Folder.containing(path)) } catch {
            throw .unwritable(error)
        }
        if free < length { throw .noRoom }
        return length
    }

    private func writeHead(of length: Int64) throws(UpdateDownload.Failure) {
        let failure = head.withUnsafeBytes { bytes -> UpdateDownload.Failure? in
            do throws(UpdateDownload.Failure) { try write(bytes, of: length) } catch { return error }
            return nil
        }
        if let failure { throw failure }
    }

    private func write(_ bytes: UnsafeRawBufferPointer, of length: Int64) throws(UpdateDownload.Failure) {
        guard count + Int64(bytes.count) <= length else { throw .tooLong }
        do throws(SystemError) { try file.write(bytes, at: count) } catch { throw UpdateDownload.Failure(error) }
        written.wrappingAdd(Int64(bytes.count), ordering: .relaxed)
    }

    func ended(_ error: TransferError?) {
        if isOver { return }
        switch error {
        case .tooLarge: finish(.tooLarge)
        case .some(let error): finish(.transfer(error))
        case nil where length == nil: finish(.update(.tooShort(path: path)))
        case nil: finish(count == length ? nil : .update(.damaged(path: path)))
        }
    }

    private func finish(_ failure: UpdateDownload.Failure?) {
        self.failure = failure
        ended.store(true, ordering: .releasing)
        wakeUp.signal()
    }
}
