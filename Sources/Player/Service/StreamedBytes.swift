import Media
import Network
import Platform

/// A resource of the service as a `ByteSource`: the network fetches ahead of the reader, up to a number of bytes.
///
/// Thread: the reader's, one at a time. The end of this object ends its transfer.
final class StreamedBytes: ByteSource {
    /// How far ahead of the last byte that has arrived a read waits for it, instead of asking for another range.
    private static let patience: Int64 = 256 << 10

    private let network: any ServiceNetwork
    private let request: TransferRequest
    private let readAhead: Int
    private var window: StreamWindow
    private var transfer: ResourceTransfer
    /// Of the bytes that came by the transfers before.
    private var version = ResourceVersion()
    private let progress: StreamProgress?
    private let progressID: Int
    private let throughput: Throughput?
    private let addresses: ResourceAddresses?
    private let isSegment: Bool

    /// The audio in it; nil for what is none.
    private var audio: (seconds: Double, isSegment: Bool, bandwidth: Int?)?
    /// Whether the transfer was ended because it takes too long. A read that reaches its end throws `.cancelled`.
    private(set) var isGivenUp = false

    /// Begins to fetch.
    /// - Parameters:
    ///   - request: of the whole resource, or of a range, whose first byte has the offset 0 then.
    ///   - addresses: of the same bytes; nil for that of the request alone.
    ///   - readAhead: bytes that are held at most.
    ///   - progress: shows how much has arrived, and waits.
    ///   - throughput: takes part in what is measured; nil for what is too small.
    ///   - isSegment: whether it is one of many segments: what arrives is waited for and stays, wherever it is read.
    init(
        _ request: TransferRequest, over network: any ServiceNetwork, at addresses: ResourceAddresses? = nil,
        readAhead: Int, progress: StreamProgress? = nil, throughput: Throughput? = nil, isSegment: Bool = false
    ) {
        self.throughput = throughput
        self.isSegment = isSegment
        self.addresses = addresses
        self.progress = progress
        progressID = progress?.newID() ?? 0
        self.network = network
        self.request = request
        self.readAhead = readAhead
        (window, transfer) = Self.fetch(
            request, from: 0, of: version, over: network, addresses, readAhead, progress, throughput, isSegment)
    }

    deinit {
        transfer.cancel()
        progress?.forget(progressID)
    }

    /// Shows the audio in it to the status, and to the decision when to begin.
    /// - Parameters:
    ///   - isSegment: whether it is a segment of the content, and not all of it.
    ///   - bandwidth: of its representation, in bits per second; nil when it is not known.
    func show(seconds: Double, isSegment: Bool, bandwidth: Int? = nil) {
        audio = (seconds, isSegment, bandwidth)
        show()
    }

    /// Ends the transfer. What has arrived can be read, and does not count as buffered any more.
    func giveUp() {
        isGivenUp = true
        audio = nil
        progress?.forget(progressID)
        transfer.cancel()
    }

    private func show() {
        guard let audio else { return }
        let range = request.range
        let length = range.flatMap { range in range.upTo.map { $0 - range.from } }
        progress?.show(
            progressID,
            BufferedStretch(
                window: window, length: length, seconds: audio.seconds, isSegment: audio.isSegment,
                bandwidth: audio.bandwidth))
    }

    private static func fetch(
        _ request: TransferRequest, from offset: Int64, of version: ResourceVersion, over network: any ServiceNetwork,
        _ addresses: ResourceAddresses?, _ readAhead: Int, _ progress: StreamProgress?, _ throughput: Throughput?,
        _ isSegment: Bool
    ) -> (StreamWindow, ResourceTransfer) {
        var request = request
        if offset > 0 {
            request.range = ByteRange(from: (request.range?.from ?? 0) + offset, upTo: request.range?.upTo)
        }
        let window = StreamWindow(
            from: offset, capacity: readAhead, progress, throughput, isSegment: isSegment)
        return (
            window,
            ResourceTransfer(
                request, of: version, over: network, at: addresses, progress: progress, into: window)
        )
    }

    var length: Int64? {
        let length = version.length ?? window.length
        guard let range = request.range else { return length }
        // A range ends there also while it is not known how long the whole is: not every server says it.
        guard let end = length.map({ min(range.upTo ?? .max, $0) }) ?? range.upTo else { return nil }
        return max(0, end - range.from)
    }

    var isStreamed: Bool { true }

    /// Bytes that have arrived ahead of the reader.
    var buffered: Int64 { window.buffered }

    /// Bytes that have not arrived, of an estimated length when the server has not said it.
    func missing(ofEstimated estimate: Double) -> Double {
        max(0, (length.map { Double($0) } ?? estimate) - Double(window.arrivedEnd))
    }

    /// Whether all bytes have arrived, or none follows any more.
    var isComplete: Bool { window.isOver }

    /// Whether it ended before its last byte: a read that reaches this place throws the reason.
    var hasFailed: Bool { window.hasFailed }

    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(ByteSourceError) -> ByteRead {
        var buffer = buffer
        if let length {
            if offset >= length { return .end }
            buffer = UnsafeMutableRawBufferPointer(rebasing: buffer.prefix(Int(clamping: length - offset)))
        }
        if !isGivenUp, !window.mayReach(offset, patience: isSegment ? .max : Self.patience) {
            transfer.cancel()
            // Bytes of two versions are no resource. The answer is compared, and no If-Range is sent: the cache answers
            // no conditions, and a server that does not take its own tag back would send the whole.
            version = version.completed(by: window.version)
            (window, transfer) = Self.fetch(
                request, from: offset, of: version, over: network, addresses, readAhead, progress, throughput, isSegment
            )
            show()
        }
        let (read, wantsMore) = try window.read(into: buffer, at: offset)
        if wantsMore { transfer.resume() }
        return read
    }

    func whenReadable(_ wake: @escaping @Sendable () -> Void) { window.whenReadable(wake) }
}
