import Media
import Network
import Platform

/// A resource of the service as a `ByteSource`: the network fetches before the reader needs the bytes, up to a number
/// of bytes.
///
/// Thread: the reader's, one at a time. Deinitialisation cancels the transfers.
package final class StreamedBytes: ByteSource {
    /// The largest distance from the last arrived byte at which a read waits for the transfer. For a more distant read,
    /// another range is requested.
    private static let patience: Int64 = 256 << 10
    /// The number of bytes that are requested first after a jump. It is small, because a reader that searches for a
    /// position jumps again.
    private static let firstPart: Int64 = 128 << 10

    /// The parameters of the transfers.
    private struct Source {
        let request: TransferRequest
        let network: any ServiceNetwork
        let addresses: ResourceAddresses?
        let readAhead: Int
        let progress: StreamProgress?
        let throughput: Throughput?
        let isSegment: Bool
        let retries: LiveRetries?

        /// - Parameter isLook: whether the reader may jump again, so that few bytes are held.
        func begin(
            from offset: Int64, of version: ResourceVersion, isLook: Bool = false,
            for purpose: RetrySchedule.Purpose = .playback
        ) -> Stretch {
            var request = request
            // Bytes in the middle of a segment may look like text.
            if offset > 0 { (request.longestPart, request.isMedia) = (StreamedBytes.firstPart, false) }
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
                        request, from: offset, of: version, over: network, for: purpose, at: addresses,
                        progress: progress, into: window)
                }
            return Stretch(start: offset, window: window, transfer: transfer)
        }
    }

    /// The bytes that one transfer delivers.
    private struct Stretch {
        let start: Int64
        let window: StreamWindow
        let transfer: any OngoingTransfer
    }

    private let source: Source
    private var main: Stretch
    /// The range that the reader has jumped to, as long as the reader may return. Opening a file, for example, reads
    /// its end.
    private var look: Stretch?
    /// The version of the bytes of earlier transfers.
    private var version = ResourceVersion()
    private let progressID: Int

    /// The length of the audio in it; nil for resources that are not audio.
    private var audio: (seconds: Double, isSegment: Bool, bandwidth: Int?)?
    /// Whether the transfer was cancelled because it takes too long. A read that reaches its end throws `.cancelled`.
    package private(set) var isGivenUp = false

    /// Begins to fetch.
    /// - Parameters:
    ///   - request: for the whole resource, or for a range, whose first byte then has the offset 0.
    ///   - addresses: the addresses of the same bytes; nil for the address of the request alone.
    ///   - readAhead: the maximum number of bytes held.
    ///   - progress: publishes waits and how much has arrived.
    ///   - throughput: receives measurements; nil for resources that are too small to measure.
    ///   - isSegment: whether it is one of many segments, whose bytes are waited for and kept at any read offset.
    ///   - retries: for live content; nil for other content.
    ///   - purpose: the purpose of the first transfer; the later ones are for playback.
    package init(
        _ request: TransferRequest, over network: any ServiceNetwork, at addresses: ResourceAddresses? = nil,
        readAhead: Int, progress: StreamProgress? = nil, throughput: Throughput? = nil, isSegment: Bool = false,
        retries: LiveRetries? = nil, purpose: RetrySchedule.Purpose = .playback
    ) {
        source = Source(
            request: request, network: network, addresses: addresses, readAhead: readAhead, progress: progress,
            throughput: throughput, isSegment: isSegment, retries: retries)
        progressID = progress?.newID() ?? 0
        main = source.begin(from: 0, of: version, for: purpose)
    }

    deinit {
        main.transfer.cancel()
        look?.transfer.cancel()
        source.progress?.forget(progressID)
    }

    /// Publishes the audio of the resource for the status, and for the decision when playback begins.
    /// - Parameters:
    ///   - isSegment: whether it is a segment of the content, not the whole content.
    ///   - bandwidth: the bandwidth of its representation, in bits per second; nil while unknown.
    package func show(seconds: Double, isSegment: Bool, bandwidth: Int? = nil) {
        audio = (seconds, isSegment, bandwidth)
        show()
    }

    /// Cancels the transfer. Bytes that have arrived can be read, but no longer count as buffered.
    package func giveUp() {
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

    package var length: Int64? {
        let length = version.length ?? main.window.length ?? look?.window.length
        guard let range = source.request.range else { return length }
        // The range has an end even while the length of the whole resource is unknown: not every server sends the
        // length.
        guard let end = length.map({ min(range.upTo ?? .max, $0) }) ?? range.upTo else { return nil }
        return max(0, end - range.from)
    }

    package var isStreamed: Bool { true }

    /// The stretch that the reader uses.
    private var current: Stretch { look ?? main }

    /// The number of bytes that wait for the reader.
    package var buffered: Int64 { current.window.buffered }

    /// Returns the number of bytes that have not arrived. The estimate is used when the server has not sent a length.
    package func missing(ofEstimated estimate: Double) -> Double {
        max(0, (length.map { Double($0) } ?? estimate) - Double(current.window.arrivedEnd))
    }

    /// Whether all bytes have arrived, or no more will.
    package var isComplete: Bool { current.window.isOver }

    /// Whether the bytes are the endless stream of a station. Known once bytes have arrived.
    package var isOfStation: Bool { main.window.isOfStation }

    /// Whether the bytes have ended with a connection that may have broken too early.
    package var mayHaveRest: Bool { current.window.mayHaveRest }

    /// Whether the transfer failed before the last byte: a read that reaches its end throws the reason.
    package var hasFailed: Bool { current.window.hasFailed }

    /// The reason of the failure; nil when the transfer has not failed.
    package var failure: ResourceFailure? { current.window.failure }

    package func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(ByteSourceError) -> ByteRead
    {
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

    /// Returns the stretch that delivers the byte at `offset`, and begins one if necessary.
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
            // The reader stays in this range, so the range becomes the main stretch.
            if offset - look.start >= Self.firstPart { stay(at: look) }
            return look
        }
        look?.transfer.cancel()
        // Bytes of two versions must not be mixed. The answers are compared, and no If-Range is sent: the cache does
        // not answer conditional requests, and a server that rejects its own tag would send the whole resource.
        version = version.completed(by: main.window.version)
        let isLook = !source.isSegment && source.retries == nil && !main.window.hasFailed
        let begun = source.begin(from: offset, of: version, isLook: isLook)
        if isLook {
            // Pauses the main stretch, so that the look has the whole link.
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

    package func whenReadable(_ wake: @escaping @Sendable () -> Void) { current.window.whenReadable(wake) }
}
