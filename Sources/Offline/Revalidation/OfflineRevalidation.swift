import Database
import Fetching
import Media
import Network
import Platform
import Playback
import Streaming

/// Asks the service whether an offline copy is still valid, with the request of its download (docs/playback.md, 16.6).
///
/// Thread: one of its own; it blocks.
struct OfflineRevalidation {
    enum Outcome: Equatable {
        /// The copy is valid; its dates and its license were updated.
        case valid
        /// The service has other content. It is downloaded, and the old copy stays until then.
        case differs
        /// The answer is not known; the next round asks again.
        case skipped
        /// The route to the service leads over a metered link.
        case metered
        /// The system had no thread for it.
        case notBegun
        case stopped
    }

    let service: OfflineService
    let store: OfflineStore
    let cancellation: Cancellation

    func run(_ item: OfflineItem) -> Outcome {
        do throws(OfflineFailure) { return try check(item) } catch {
            if error.isOfMeteredLink { return .metered }
            guard let reason = error.error(mediaProduct(item)) else { return .stopped }
            Log.info("\(item.product.text) is not validated now: \(reason.message)")
            return .skipped
        }
    }

    private func mediaProduct(_ item: OfflineItem) -> MediaProduct {
        MediaProduct(
            productType: item.product.productType, productId: item.product.text, referenceId: item.referenceId)
    }

    private func check(_ item: OfflineItem) throws(OfflineFailure) -> Outcome {
        let requests = service.requests(for: .validation, cancellation)
        let info = try service.playbackInfo(
            of: item.product, item.request, for: mediaProduct(item), requests, asksForNew: true)
        guard info.fingerprint == item.fingerprint, !item.isDamaged else {
            let hasCopy = try write { (rows) throws(DatabaseError) -> Bool in
                // It may have been deleted meanwhile.
                guard let now = try rows.item(item.product), now.content == item.content else { return false }
                // A failed download is retried on its own schedule.
                if try rows.download(item.product)?.state == .failed { return false }
                _ = try rows.add(
                    item.product, item.referenceId, item.request, priority: 0, isAutomatic: now.isAutomatic)
                return true
            }
            return hasCopy ? .differs : .skipped
        }
        let license = try license(for: item, info, requests)
        let validity = OfflineValidity(revalidateAt: info.offlineRevalidateAt, validUntil: info.offlineValidUntil)
        try write { (rows) throws(DatabaseError) in try rows.validate(item, validity, license: license) }
        return .valid
    }

    /// - Returns: nil when there is no license, or none that has to be fetched.
    private func license(
        for item: OfflineItem, _ info: PlaybackInfo, _ requests: ServiceRequests
    ) throws(OfflineFailure) -> [UInt8]? {
        guard let sealed = item.sealedLicense, info.licenseSecurityToken != nil || info.licenseURL != nil,
            let former = store.open(sealed, for: item.content).flatMap({ OfflineLicense(bytes: $0) })
        else { return nil }
        let (_, keys) = try service.content(of: info, requests, asksForNew: true)
        let licenses = keys.compactMap { $0.licenses }
        guard !licenses.isEmpty else { return nil }
        var license = OfflineLicense(keys: [])
        do throws(MediaError) {
            for key in former.keys {
                let value = try Self.key(key.id, from: licenses)
                license.keys.append(ContentKeys.Key(id: key.id, value: value))
            }
        } catch {
            throw error == .source(.cancelled) ? .stopped : .media(error)
        }
        return store.seal(license.bytes, for: item.content)
    }

    /// Takes the key from the first part of the content that has it.
    private static func key(_ id: [UInt8], from licenses: [any LicenseProvider]) throws(MediaError) -> [UInt8] {
        var failure = MediaError.missingKey(id: id)
        for license in licenses {
            do throws(MediaError) { return try license.key(KeyRequest(keyID: id, systems: [])) } catch {
                failure = error
            }
        }
        throw failure
    }

    private func write<Result: Sendable>(
        _ work: @escaping @Sendable (OfflineRows) throws(DatabaseError) -> Result
    ) throws(OfflineFailure) -> Result {
        do throws(DatabaseError) { return try store.waitToWrite(work) } catch { throw .state(error) }
    }
}
