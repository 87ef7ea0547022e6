import Crypto
import Fetching
import Manifests
import Media
import Network
import Platform
import Streaming

/// The content of a download as a `ByteSource`. A read of bytes that have not arrived receives them from the network
/// and seals them, so the decoder drives the download.
///
/// Thread: the download's; it blocks.
final class ArrivingContent: ByteSource {
    /// One resource that is being received.
    private final class Reception {
        let resource: ContentResources.Resource
        let arriving: ArrivingBytes
        let transfer: ResourceTransfer
        /// The next byte of the resource.
        var position: Int64
        /// The chunks that have arrived, in reverse order: the next one is last.
        var pieces: [[UInt8]] = []
        var wantsMore = false
        /// Whether any bytes of the resource have arrived.
        var hasBegun = false

        init(
            _ resource: ContentResources.Resource, _ arriving: ArrivingBytes, _ transfer: ResourceTransfer,
            at position: Int64
        ) {
            (self.resource, self.arriving, self.transfer, self.position) = (resource, arriving, transfer, position)
        }
    }

    private enum State {
        /// The index of the next resource.
        case between(Int)
        case receiving(Int, Reception)
        case complete
    }

    /// The limit for a segment that is encrypted as a whole, in bytes.
    private static let largestSegment = 64 << 20

    /// The reason why no more bytes arrive. A reader sees `.cancelled` for every reason.
    private(set) var failure: OfflineFailure?
    /// The length of the content in bytes. It is known with the first bytes of a single file, otherwise at the end.
    private(set) var length: Int64?
    private let resources: ContentResources
    private let keys: [StreamedKeys]
    private let content: GrowingContent
    private let network: any ServiceNetwork
    private let space: OfflineSpace
    private let download: QueuedDownload
    private let turn: NetworkTurn
    private let stream: StreamProgress
    private let cancellation: Cancellation
    private let failed = FailedAddresses()
    private var progress: DownloadPercent
    private var state = State.between(0)
    /// The bytes appended last, and their start: a decoder usually reads them next.
    private var latest: (start: Int64, bytes: [UInt8])

    /// - Parameters:
    ///   - download: the download that `space` is claimed for.
    ///   - keys: the keys of each part.
    ///   - turn: waits while playback needs the network.
    ///   - stream: shows the retries of the transfers.
    ///   - progress: called with 0 to 99 when the number changes.
    init(
        _ download: QueuedDownload, _ resources: ContentResources, _ keys: [StreamedKeys], into content: GrowingContent,
        over network: any ServiceNetwork, _ space: OfflineSpace, _ turn: NetworkTurn, _ stream: StreamProgress,
        _ cancellation: Cancellation, _ progress: @escaping (Int) -> Void
    ) {
        (self.resources, self.keys, self.content, self.network) = (resources, keys, content, network)
        (self.space, self.download, self.turn, self.stream) = (space, download, turn, stream)
        self.cancellation = cancellation
        self.progress = DownloadPercent(report: progress)
        latest = (content.count, [])
    }

    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(ByteSourceError) -> ByteRead {
        do throws(OfflineFailure) {
            while offset >= content.count {
                if try !receiveMore() { return .end }
            }
        } catch {
            throw .cancelled
        }
        guard offset >= latest.start else {
            do throws(SealedFileError) { return ByteRead(count: try content.read(into: buffer, at: offset)) } catch {
                throw error.byteSourceError
            }
        }
        let place = Int(offset - latest.start)
        let count = min(buffer.count, latest.bytes.count - place)
        latest.bytes.withUnsafeBytes {
            buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0[place..<(place + count)]))
        }
        return ByteRead(count: count)
    }

    /// Receives the first bytes. If the content is one file, its length is known afterwards.
    func receiveFirst() throws(OfflineFailure) {
        while content.count == 0, try receiveMore() {}
    }

    /// Receives everything that the decoder has not read.
    func receiveAll() throws(OfflineFailure) {
        while try receiveMore() {}
    }

    /// Cancels the running transfer. Call it before the content is released.
    func stop() {
        if case .receiving(_, let reception) = state { reception.transfer.cancel() }
    }

    /// - Returns: false when the content is complete.
    private func receiveMore() throws(OfflineFailure) -> Bool {
        if let failure { throw failure }
        do throws(OfflineFailure) {
            switch state {
            case .complete: return false
            case .between(let index): try begin(index)
            case .receiving(let index, let reception):
                if let bytes = try nextOrEnd(index, of: reception) {
                    try take(bytes, of: reception)
                } else {
                    reception.transfer.cancel()
                    // Each resource has an entry in the record, even one without bytes.
                    if reception.position == 0 { content.begin(validator: nil) }
                    end(index, reception.resource)
                }
            }
            return true
        } catch {
            stop()
            failure = error
            throw error
        }
    }

    private func begin(_ index: Int) throws(OfflineFailure) {
        if index == 0, let expected = resources.expectedBytes { try space.claim(download, upTo: expected) }
        guard index < resources.count else {
            state = .complete
            length = content.count
            return
        }
        let resource: ContentResources.Resource
        do throws(MediaError) { resource = try resources.at(index) } catch { throw .media(error) }
        // Skip resources that are complete on the medium.
        guard index >= content.start.index else { return end(index, resource) }
        let (isFirst, start) = (index == content.start.index, content.start)
        let offset = isFirst ? start.offset : 0
        if resource.reference.range?.isEmpty ?? false {
            content.begin(validator: nil)
            return end(index, resource)
        }
        let validator = isFirst ? start.validator : nil
        if resource.protections.contains(where: { $0.isOfWholeSegments }) {
            try receiveEncrypted(resource, from: offset, validator: validator)
            return end(index, resource)
        }
        state = .receiving(index, try request(resource, from: offset, validator: validator))
    }

    private func end(_ index: Int, _ resource: ContentResources.Resource) {
        progress.complete(resource.share)
        state = .between(index + 1)
    }

    private func take(_ bytes: [UInt8], of reception: Reception) throws(OfflineFailure) {
        let (resource, head) = (reception.resource, reception.arriving.head)
        let length = resource.reference.range.map { $0.upperBound - $0.lowerBound } ?? head.length
        if reception.position == 0 {
            content.begin(validator: head.validator)
            if resources.count == 1 { self.length = length }
        }
        if !reception.hasBegun {
            reception.hasBegun = true
            if let length {
                try claim(length, from: content.count - reception.position)
            } else {
                try space.claimMore(download, after: content.count)
            }
        }
        if length == nil { try space.checkArrived(content.count + Int64(bytes.count)) }
        try append(bytes)
        reception.position += Int64(bytes.count)
        try advance(resource.share, reception.position, of: length)
    }

    /// - Parameter start: the position of the resource of this length, in bytes of the content.
    private func claim(_ length: Int64, from start: Int64) throws(OfflineFailure) {
        let (end, isBeyond) = start.addingReportingOverflow(length)
        try space.claim(download, upTo: isBeyond ? .max : end)
    }

    private func append(_ bytes: [UInt8]) throws(OfflineFailure) {
        latest = (content.count, bytes)
        try content.append(bytes)
    }

    /// Receives a segment that is encrypted as a whole. Its blocks are chained and padded, so it is stored decrypted
    /// once all of it has arrived. Continuing a segment needs the block before it.
    private func receiveEncrypted(
        _ resource: ContentResources.Resource, from offset: Int64, validator: String?
    ) throws(OfflineFailure) {
        latest = (content.count, [])
        let start = SegmentDecryption.firstByte(toRead: offset)
        let reception = try request(resource, from: start, validator: validator)
        defer { reception.transfer.cancel() }
        var sealed: [UInt8] = []
        while let bytes = try next(of: reception) {
            guard sealed.count + bytes.count <= Self.largestSegment else {
                throw .media(.unsupported(what: "an encrypted segment of more than \(Self.largestSegment >> 20) MiB"))
            }
            sealed += bytes
        }
        let plain: [UInt8]
        do throws(ByteSourceError) {
            let source = BytesSource(sealed, from: start)
            plain = try Self.bytes(of: try keys[resource.part].decrypted(source, resource.protections), from: offset)
        } catch {
            throw error == .cancelled ? .stopped : .media(.source(error))
        }
        if offset == 0 { content.begin(validator: reception.arriving.head.validator) }
        try claim(Int64(plain.count), from: content.count)
        try append(plain)
        try advance(resource.share, 1, of: 1)
    }

    /// - Parameter source: a source that never waits.
    private static func bytes(of source: any ByteSource, from offset: Int64) throws(ByteSourceError) -> [UInt8] {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 65_536, alignment: 16)
        defer { buffer.deallocate() }
        var bytes: [UInt8] = []
        while case .bytes(let count) = try source.read(into: buffer, at: offset + Int64(bytes.count)) {
            bytes.append(contentsOf: buffer[..<count])
        }
        return bytes
    }

    private func advance(_ share: Double, _ position: Int64, of length: Int64?) throws(OfflineFailure) {
        let part = length.map { $0 > 0 ? min(1, Double(position) / Double($0)) : 1 } ?? 0
        let percent = progress.show(share * part)
        guard try content.reached(percent: percent) else { return }
        if length == nil { try space.claimMore(download, after: content.count) } else { try space.claim(download) }
    }

    private func request(
        _ resource: ContentResources.Resource, from offset: Int64, validator: String?
    ) throws(OfflineFailure) -> Reception {
        let arriving: ArrivingBytes
        do throws(SystemError) { arriving = try ArrivingBytes() } catch {
            throw .medium(error)
        }
        var request = TransferRequest.content(
            resource.reference.url, range: resource.reference.byteRange, resource.space)
        if resource.space == nil { request.cacheScope = nil }
        request.isReadInParts = resource.isFile
        request.isMedia = !resource.isFile && offset == 0
        let version = offset > 0 ? ResourceVersion(validator: validator) : ResourceVersion()
        try turn.wait(cancellation)
        let transfer = ResourceTransfer(
            request, from: offset, of: version, isContinuation: offset > 0, over: network, for: .offlining,
            at: ResourceAddresses(Alternatives(resource.reference.url, bases: resource.bases), failed: failed),
            progress: stream, into: arriving)
        return Reception(resource, arriving, transfer, at: offset)
    }

    /// Like `next(of:)`, but a missing segment whose existence is only estimated counts as empty, if the segment after
    /// it is missing too.
    private func nextOrEnd(_ index: Int, of reception: Reception) throws(OfflineFailure) -> [UInt8]? {
        do throws(OfflineFailure) { return try next(of: reception) } catch {
            guard reception.position == 0, isMissing(reception, error) else { throw error }
            guard index + 1 < resources.count else { return nil }
            let following: ContentResources.Resource
            do throws(MediaError) { following = try resources.at(index + 1) } catch { throw .media(error) }
            guard following.part == reception.resource.part else { return nil }
            let proof = try request(following, from: 0, validator: nil)
            defer { proof.transfer.cancel() }
            do throws(OfflineFailure) { if try next(of: proof) == nil { return nil } } catch let other {
                if isMissing(proof, other) { return nil }
                throw other
            }
            throw error
        }
    }

    private func isMissing(_ reception: Reception, _ error: OfflineFailure) -> Bool {
        guard reception.resource.isEstimated, case .resource(let failure) = error else { return false }
        // A second session uses no cache.
        return failure.isOfMissing(isRenewed: reception.resource.space == nil)
    }

    /// The next bytes of a resource; nil at its end.
    private func next(of reception: Reception) throws(OfflineFailure) -> [UInt8]? {
        if let piece = reception.pieces.popLast() { return piece }
        // A transfer that is not resumed takes nothing from the network.
        try turn.wait(cancellation)
        if reception.wantsMore { reception.transfer.resume() }
        let (step, wantsMore) = try reception.arriving.next(cancellation)
        reception.wantsMore = wantsMore
        guard case .bytes(let pieces) = step else { return nil }
        reception.pieces = pieces.reversed()
        return reception.pieces.popLast()
    }
}

/// The percentage of a download, which is reported when it changes.
private struct DownloadPercent {
    /// Called with 0 to 99: the download reports the end.
    let report: (Int) -> Void
    /// The share of the resources that are complete.
    private var complete = 0.0
    /// The percentage that was reported last.
    private var reported = -1

    init(report: @escaping (Int) -> Void) { self.report = report }

    mutating func complete(_ share: Double) { complete += share }

    /// - Parameter share: the share of all resources that has arrived of the current one.
    /// - Returns: the percentage.
    mutating func show(_ share: Double) -> Int {
        let percent = min(99, Int((complete + share) * 100))
        if percent != reported {
            reported = percent
            report(percent)
        }
        return percent
    }
}
