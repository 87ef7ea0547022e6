import Crypto
import Database
import Media
import Network
import Platform

/// One run of a download, from the playbackinfo to the transaction that makes the product a kept one
/// (docs/playback.md, 16.4).
///
/// Thread: one of its own; it blocks.
struct OfflineDownload {
    /// Of one that is encrypted as a whole, in bytes.
    private static let largestSegment = 64 << 20

    let job: OfflineJob
    let service: OfflineService
    let store: OfflineStore
    let space: OfflineSpace
    let cancellation: Cancellation
    /// Waits while playback needs the network.
    let turn: NetworkTurn
    /// Called with 0 to 99.
    let progress: (Int) -> Void
    /// Seconds since 1970, for the order of use.
    let now: () -> Int64

    private var mediaProduct: MediaProduct {
        MediaProduct(
            productType: job.product.productType, productId: job.product.text, referenceId: job.referenceId)
    }

    /// - Returns: when the product is kept.
    func run() throws(OfflineFailure) {
        var job = job
        var isRestart = false
        var hasProgressed = false
        while true {
            do throws(OfflineFailure) {
                return try attempt(job, isRestart: isRestart, &hasProgressed)
            } catch {
                // As a stream does: new addresses, as long as each of them brings it further.
                guard error.isWorthRestarting, !isRestart || hasProgressed else { throw error }
                Log.info("a part of the content is refused or has changed: the product is requested again")
                isRestart = true
                hasProgressed = false
                let product = job.product
                let stored = store.waitToRead { (rows) throws(DatabaseError) in try rows.job(product) }
                guard let found = stored ?? nil else { throw .stopped }
                job = found
            }
        }
    }

    /// - Parameter hasProgressed: set to whether bytes have arrived.
    private func attempt(_ job: OfflineJob, isRestart: Bool, _ hasProgressed: inout Bool) throws(OfflineFailure) {
        // Nobody is asked for what there is no room for.
        try space.claim(0)
        let requests = service.requests(cancellation)
        let info = try service.playbackInfo(
            of: job.product, job.request, for: mediaProduct, requests, asksForNew: isRestart)
        let (layout, keys) = try service.content(of: info, requests, asksForNew: isRestart)
        let resources = try Self.media { () throws(MediaError) in try ContentResources(layout) }
        let content = try GrowingContent(job, info.fingerprint, in: store)
        do throws(OfflineFailure) {
            try fetch(resources, keys, into: content)
        } catch {
            hasProgressed = content.hasGrown
            // A part of another version cannot be continued, now or later.
            if error == .resource(.changed) { try content.discard() } else { content.leave() }
            throw error
        }
        try keep(content, resources, info, keys)
    }

    // MARK: Fetching

    private func fetch(
        _ resources: ContentResources, _ keys: [StreamedKeys], into content: GrowingContent
    ) throws(OfflineFailure) {
        if let expected = resources.expectedBytes { try space.claim(max(0, expected - content.count)) }
        var share = 0.0
        for index in 0..<resources.count {
            let resource = try Self.media { () throws(MediaError) in try resources.at(index) }
            // What is complete on the medium is not asked for.
            if index >= content.start.index {
                let isFirst = index == content.start.index
                try fetch(
                    resource, from: isFirst ? content.start.offset : 0,
                    validator: isFirst ? content.start.validator : nil, keys[resource.part], into: content,
                    done: share)
            }
            share += resource.share
        }
    }

    private func fetch(
        _ resource: ContentResources.Resource, from offset: Int64, validator: String?, _ keys: StreamedKeys,
        into content: GrowingContent, done: Double
    ) throws(OfflineFailure) {
        if resource.reference.range?.isEmpty ?? false { return content.begin(validator: nil) }
        if resource.protections.contains(where: { $0.isOfWholeSegments }) {
            return try fetchEncrypted(resource, from: offset, keys, into: content, done)
        }
        var position = offset
        try receive(resource.reference, from: offset, validator: validator) { (bytes, head) throws(OfflineFailure) in
            if position == 0 {
                content.begin(validator: head.validator)
                if let length = head.length { try space.claim(length) }
            }
            try content.append(bytes)
            position += Int64(bytes.count)
            let length = resource.reference.range.map { Int64($0.count) } ?? head.length
            try advance(content, done, resource.share, position, of: length)
        }
        // Each resource has its place in the record, also one without bytes.
        if position == 0 { content.begin(validator: nil) }
    }

    /// Chained blocks and their padding are of the whole segment, so it is fetched as a whole and kept decrypted.
    private func fetchEncrypted(
        _ resource: ContentResources.Resource, from offset: Int64, _ keys: StreamedKeys,
        into content: GrowingContent, _ done: Double
    ) throws(OfflineFailure) {
        var sealed: [UInt8] = []
        try receive(resource.reference, from: 0, validator: nil) { (bytes, _) throws(OfflineFailure) in
            guard sealed.count + bytes.count <= Self.largestSegment else {
                throw .media(.unsupported(what: "an encrypted segment of more than \(Self.largestSegment >> 20) MiB"))
            }
            sealed += bytes
        }
        let plain: [UInt8]
        do throws(ByteSourceError) {
            plain = try Self.bytes(of: try keys.decrypted(BytesSource(sealed), resource.protections))
        } catch {
            throw error == .cancelled ? .stopped : .media(.source(error))
        }
        if offset == 0 { content.begin(validator: nil) }
        try content.append(Array(plain.dropFirst(Int(clamping: offset))))
        try advance(content, done, resource.share, 1, of: 1)
    }

    /// - Parameter source: never waits.
    private static func bytes(of source: any ByteSource) throws(ByteSourceError) -> [UInt8] {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 65_536, alignment: 16)
        defer { buffer.deallocate() }
        var bytes: [UInt8] = []
        while case .bytes(let count) = try source.read(into: buffer, at: Int64(bytes.count)) {
            bytes.append(contentsOf: buffer[..<count])
        }
        return bytes
    }

    private func advance(
        _ content: GrowingContent, _ done: Double, _ share: Double, _ position: Int64, of length: Int64?
    ) throws(OfflineFailure) {
        let part = length.map { $0 > 0 ? min(1, Double(position) / Double($0)) : 1 } ?? 0
        let percent = min(99, Int((done + share * part) * 100))
        progress(percent)
        if try content.reached(percent: percent) { try space.claim(0) }
    }

    /// Receives one resource.
    private func receive(
        _ reference: ResourceReference, from offset: Int64, validator: String?,
        _ take: ([UInt8], (length: Int64?, validator: String?)) throws(OfflineFailure) -> Void
    ) throws(OfflineFailure) {
        let arriving: ArrivingBytes
        do throws(SystemError) { arriving = try ArrivingBytes(isContinuation: offset > 0) } catch {
            throw .medium(error)
        }
        var request = TransferRequest.content(reference.url, range: reference.byteRange)
        // Bytes that are kept need not be in the cache too.
        request.cacheScope = nil
        if offset > 0 {
            request.range = ByteRange(from: (request.range?.from ?? 0) + offset, upTo: request.range?.upTo)
            if let validator { request.headers.append(HeaderField("If-Range", validator)) }
        }
        try turn.wait(cancellation)
        let transfer = ResourceTransfer(request, over: service.network, for: .offlining, into: arriving)
        defer { transfer.cancel() }
        while true {
            let (step, wantsMore) = try arriving.next(cancellation)
            guard case .bytes(let pieces) = step else { return }
            for piece in pieces { try take(piece, arriving.head) }
            // A transfer that is not resumed takes nothing from the network.
            try turn.wait(cancellation)
            if wantsMore { transfer.resume() }
        }
    }

    // MARK: Keeping

    private func keep(
        _ content: GrowingContent, _ resources: ContentResources, _ info: PlaybackInfo, _ keys: [StreamedKeys]
    ) throws(OfflineFailure) {
        let sealedKey = try content.finish()
        var received = OfflineItem.Received(info, job.product.productType)
        received.parts = resources.kept { content.offset(of: $0) }
        var item = OfflineItem(
            product: job.product, referenceId: job.referenceId, request: job.request,
            received: received, fingerprint: info.fingerprint, content: content.content,
            sealedKey: sealedKey, sealedLicense: nil, count: content.count,
            validity: OfflineValidity(revalidateAt: info.offlineRevalidateAt, validUntil: info.offlineValidUntil),
            isAutomatic: job.isAutomatic)
        do throws(OfflineFailure) {
            let source = try Self.media { () throws(MediaError) in try KeptBytes(item, store) }
            let verified = try ContentVerification(
                source: source, parts: item.received.parts, licenses: keys.map { $0.licenses },
                cancellation: cancellation
            ).run()
            item.received.title = verified.metadata.title.map { Self.short($0) }
            item.received.artist = verified.metadata.artist.map { Self.short($0) }
            if !verified.keys.isEmpty {
                item.sealedLicense = store.seal(KeptLicense(keys: verified.keys).bytes, for: item.content)
            }
        } catch {
            // Fetched again, it is another file.
            if error == .stopped { content.leave() } else { try content.discard() }
            throw error
        }
        let (kept, number, time) = (item, job.number, now())
        let isWanted: Bool
        do throws(DatabaseError) {
            let outcome = try store.waitToWrite { (rows) throws(DatabaseError) -> (isKept: Bool, former: [UInt8]?) in
                guard let job = try rows.job(kept.product), job.number == number else { return (false, nil) }
                var kept = kept
                kept.isAutomatic = job.isAutomatic
                return (true, try rows.keep(kept, now: time))
            }
            isWanted = outcome.isKept
            store.removeFiles([isWanted ? outcome.former : kept.content].compactMap { $0 })
        } catch {
            throw OfflineFailure(error)
        }
        // It was deleted meanwhile: nobody is told that it is kept.
        if !isWanted { throw .stopped }
    }

    /// For lists: a tag may have megabytes, and the row of a product has to stay small.
    private static func short(_ text: String) -> String {
        String(String.UnicodeScalarView(text.unicodeScalars.prefix(100)))
    }

    private static func media<Result>(
        _ body: () throws(MediaError) -> Result
    ) throws(OfflineFailure) -> Result {
        do throws(MediaError) { return try body() } catch { throw .media(error) }
    }
}
