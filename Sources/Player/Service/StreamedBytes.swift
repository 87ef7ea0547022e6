import Media
import Network
import Platform

/// A resource of the service as a `ByteSource`: the network fetches ahead of the reader, up to a number of bytes.
///
/// Thread: the reader's, one at a time. The end of this object ends its transfer.
final class StreamedBytes: ByteSource {
    /// How far ahead of the last byte that has arrived a read waits for it, instead of asking for another range.
    private static let patience: Int64 = 256 << 10
    /// How much is asked for at first where a reader jumps to, which may jump on: a search for a position does.
    private static let firstPart: Int64 = 128 << 10

    /// What is fetched, and how.
    private struct Source {
        let request: TransferRequest
        let network: any ServiceNetwork
        let addresses: ResourceAddresses?
        let readAhead: Int
        let progress: StreamProgress?
        let throughput: Throughput?
        let isSegment: Bool
        let retries: LiveRetries?

        /// - Parameter isLook: whether the reader may jump on: little is held then.
        func begin(from offset: Int64, of version: ResourceVersion, isLook: Bool = false) -> Stretch {
            var request = request
            if offset > 0 { request.longestPart = StreamedBytes.firstPart }
            let window = StreamWindow(
                from: offset, capacity: isLook ? Int(StreamedBytes.firstPart) : readAhead, progress, throughput,
                isSegment: isSegment)
            let transfer: any OngoingTransfer =
                if let retries {
                    LiveTransfer(
                        request.rest(from: offset), of: version, over: network, at: addresses, retries,
                        progress: progress, into: window)
                } else {
                    ResourceTransfer(
                        request, from: offset, of: version, over: network, at: addresses, progress: progress,
                        into: window)
                }
            return Stretch(start: offset, window: window, transfer: transfer)
        }
    }

    /// Bytes that one transfer brings.
    private struct Stretch {
        let start: Int64
        let window: StreamWindow
        let transfer: any OngoingTransfer
    }

    private let source: Source
    private var main: Stretch
    /// Where the reader has jumped to, as long as it may come back: a file is opened with a look at its end.
    private var look: Stretch?
    /// Of the bytes that came by the transfers before.
    private var version = ResourceVersion()
    private let progressID: Int

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
    ///   - retries: of live content; nil for any other.
    init(
        _ request: TransferRequest, over network: any ServiceNetwork, at addresses: ResourceAddresses? = nil,
        readAhead: Int, progress: StreamProgress? = nil, throughput: Throughput? = nil, isSegment: Bool = false,
        retries: LiveRetries? = nil
    ) {
        source = Source(
            request: request, network: network, addresses: addresses, readAhead: readAhead, progress: progress,
            throughput: throughput, isSegment: isSegment, retries: retries)
        progressID = progress?.newID() ?? 0
        main = source.begin(from: 0, of: version)
    }

    deinit {
        main.transfer.cancel()
        look?.transfer.cancel()
        source.progress?.forget(progressID)
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
        source.progress?.forget(progressID)
        look?.transfer.cancel()
        main.transfer.cancel()
    }

    private func show() {
        guard let audio else { return }
        let range = source.request.range
        let length = range.flatMap { range in range.upTo.map { $0 - range.from } }
        source.progress?.show(
            progressID,
            BufferedStretch(
                window: current.window, length: length, seconds: audio.seconds, isSegment: audio.isSegment,
                bandwidth: audio.bandwidth))
    }

    var length: Int64? {
        let length = version.length ?? main.window.length ?? look?.window.length
        guard let range = source.request.range else { return length }
        // A range ends there also while it is not known how long the whole is: not every server says it.
        guard let end = length.map({ min(range.upTo ?? .max, $0) }) ?? range.upTo else { return nil }
        return max(0, end - range.from)
    }

    var isStreamed: Bool { true }

    /// Where the reader is.
    private var current: Stretch { look ?? main }

    /// Bytes that have arrived ahead of the reader.
    var buffered: Int64 { current.window.buffered }

    /// Bytes that have not arrived, of an estimated length when the server has not said it.
    func missing(ofEstimated estimate: Double) -> Double {
        max(0, (length.map { Double($0) } ?? estimate) - Double(current.window.arrivedEnd))
    }

    /// Whether all bytes have arrived, or none follows any more.
    var isComplete: Bool { current.window.isOver }

    /// Whether it ended before its last byte: a read that reaches this place throws the reason.
    var hasFailed: Bool { current.window.hasFailed }

    /// The reason; nil when it has not failed.
    var failure: ResourceFailure? { current.window.failure }

    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(ByteSourceError) -> ByteRead {
        var buffer = buffer
        if let length {
            if offset >= length { return .end }
            buffer = UnsafeMutableRawBufferPointer(rebasing: buffer.prefix(Int(clamping: length - offset)))
        }
        let stretch = stretch(for: offset)
        let (read, wantsMore) = try stretch.window.read(into: buffer, at: offset)
        if wantsMore { stretch.transfer.resume() }
        return read
    }

    /// What brings the byte at `offset`, which is begun when nothing does.
    private func stretch(for offset: Int64) -> Stretch {
        if isGivenUp || main.window.mayReach(offset, patience: Self.patience) {
            if let look {
                self.look = nil
                look.transfer.cancel()
                show()
                if main.window.release() { main.transfer.resume() }
            }
            return main
        }
        if let look, look.window.mayReach(offset, patience: Self.patience) {
            // It is no look any more: the reader stays.
            if offset - look.start >= Self.firstPart { stay(at: look) }
            return look
        }
        look?.transfer.cancel()
        // Bytes of two versions are no resource. The answer is compared, and no If-Range is sent: the cache answers no
        // conditions, and a server that does not take its own tag back would send the whole.
        version = version.completed(by: main.window.version)
        let isLook = !source.isSegment && source.retries == nil && !main.window.hasFailed
        let begun = source.begin(from: offset, of: version, isLook: isLook)
        if isLook {
            // The line is for the look.
            main.window.hold()
            look = begun
            show()
        } else {
            stay(at: begun)
        }
        return begun
    }

    private func stay(at stretch: Stretch) {
        main.transfer.cancel()
        (main, look) = (stretch, nil)
        if main.window.widen(to: source.readAhead) { main.transfer.resume() }
        show()
    }

    func whenReadable(_ wake: @escaping @Sendable () -> Void) { current.window.whenReadable(wake) }
}
