import Appliance
import Platform
import Player

/// Requests about offline copies and downloads, their replies and their events, as JSON. `docs/control.md` documents
/// them.
enum DownloadJSON {
    typealias Member = JSONValue.Member

    // Safe: built once, never changed, and its closures capture nothing.
    nonisolated(unsafe) static let forms = [
        RequestForm("offline-add", .music, ["products", "priority"]) { fields throws(RequestMistake) in
            .later(
                .download(
                    .add(
                        try fields.paths("products"),
                        priority: try fields.integer("priority", in: OfflineEngine.priorities) ?? 0)))
        },
        RequestForm("offline-remove", .music, ["products", "all"]) { fields throws(RequestMistake) in
            .later(.download(.remove(try productsOrAll(fields))))
        },
        RequestForm("offline-cancel", .music, ["products", "all"]) { fields throws(RequestMistake) in
            .later(.download(.cancel(try productsOrAll(fields))))
        },
        RequestForm("offline-pause", .music, ["products", "all"]) { fields throws(RequestMistake) in
            .later(.download(.pause(try productsOrAll(fields))))
        },
        RequestForm("offline-resume", .music, ["products", "all"]) { fields throws(RequestMistake) in
            .later(.download(.resume(try productsOrAll(fields))))
        },
        RequestForm("offline-status", .music) { _ in .later(.download(.status)) },
        RequestForm("offline-jobs", .music, ["after"]) { fields throws(RequestMistake) in
            .later(.download(.downloads(after: Int64(try fields.integer("after", in: 0...(.max)) ?? 0))))
        },
        RequestForm("offline-items", .music, ["after"]) { fields throws(RequestMistake) in
            .later(
                .download(
                    .items(after: fields.has("after") ? try fields.text("after", "the `next` of the page before") : ""))
            )
        },
        RequestForm("offline-verify", .music, ["product"]) { fields throws(RequestMistake) in
            .later(.download(.verify(try fields.address("product"))))
        },
    ]

    private static func productsOrAll(_ fields: RequestFields) throws(RequestMistake) -> [String]? {
        let isAll = try fields.boolean("all") ?? false
        guard fields.has("products") != isAll else { throw .notOneOf("products", "all") }
        return isAll ? nil : try fields.paths("products")
    }

    static func members(_ reply: DownloadReply) -> [Member] {
        switch reply {
        case .changed(let count, let unchanged):
            [Member("changed", JSONValue(count)), Member("unchanged", JSONValue(unchanged))]
        case .status(let status):
            [
                Member("kept", JSONValue(status.copyCount)), Member("downloads", JSONValue(status.downloadCount)),
                Member("bytes", .integer(status.usedBytes)),
                Member("budget", status.budget.map { .integer($0) } ?? .null),
                Member("nearlyFull", .boolean(status.isNearlyFull)),
                Member("waitsFor", status.wait.map { .string(name($0)) } ?? .null),
                Member("retryIn", JSONValue(seconds: status.wait.flatMap { retrySeconds($0) })),
            ]
        case .downloads(let entries, let next):
            page(entries, next.map { .integer($0) }) { $0.number.map { .integer($0) } }
        case .items(let entries, let next): page(entries, next.map { .string($0) }) { .string($0.product) }
        case .verified(let isWhole): [Member("whole", .boolean(isWhole))]
        case .unreadable(let reason): [Member("whole", .null), Member("reason", .string(reason))]
        }
    }

    /// Returns as many entries as fit into a line, at least one.
    /// - Parameters:
    ///   - next: the beginning of the page after all of `entries`; nil at the end.
    ///   - place: returns the beginning of the page after an entry.
    private static func page(
        _ entries: [OfflineEntry], _ next: JSONValue?, _ place: (OfflineEntry) -> JSONValue?
    ) -> [Member] {
        var (page, bytes) = ([JSONValue](), 0)
        for (index, entry) in entries.enumerated() {
            let value = self.entry(entry)
            bytes += value.serializedLengthLimit + 1
            if bytes > ReplyLines.pageBytes, index > 0 {
                return [Member("entries", .array(page)), Member("next", place(entries[index - 1]) ?? .null)]
            }
            page.append(value)
        }
        return [Member("entries", .array(page)), Member("next", next ?? .null)]
    }

    private static func entry(_ entry: OfflineEntry) -> JSONValue {
        var value = JSONValue.object([Member("product", .string(entry.product))])
        switch entry.status {
        case .queued: value["state"] = "queued"
        case .running(let percent):
            value["state"] = "running"
            value["percent"] = JSONValue(percent)
        case .waiting(let wait):
            value["state"] = "waiting"
            value["waitsFor"] = .string(name(wait))
            if let seconds = retrySeconds(wait) { value["retryIn"] = JSONValue(seconds: seconds) }
        case .paused: value["state"] = "paused"
        case .failed(let reason):
            value["state"] = "failed"
            value["reason"] = .string(reason)
        case .complete: value["state"] = "kept"
        case .expired: value["state"] = "expired"
        case .damaged: value["state"] = "damaged"
        }
        value["bytes"] = .integer(entry.bytes)
        value["quality"] = entry.audioQuality.map { .string(name($0)) } ?? .null
        value["mode"] = entry.audioMode.map { .string(name($0)) } ?? .null
        value["presentation"] = entry.assetPresentation.map { .string(name($0)) } ?? .null
        value["received"] = entry.receivedProduct.map { .string($0) } ?? .null
        value["validUntil"] = entry.validUntil.map { .integer($0) } ?? .null
        value["title"] = entry.title.map { .string($0) } ?? .null
        value["artist"] = entry.artist.map { .string($0) } ?? .null
        return value
    }

    static func members(_ message: OfflineMessage) -> [Member] {
        func about(_ change: JSONValue, _ product: String) -> [Member] {
            [Member("change", change), Member("product", .string(product))]
        }
        switch message {
        case .started(let product): return about("started", product)
        case .progress(let product, let percent):
            return about("progress", product) + [Member("percent", JSONValue(percent))]
        case .done(let product): return about("done", product)
        case .failed(let product, let error):
            return about("failed", product) + [
                Member("code", .string(error.code)), Member("message", .string(error.message)),
            ]
        case .deleted(let product): return about("deleted", product)
        case .allDeleted: return [Member("change", "all-deleted")]
        case .cancelled(let product): return about("cancelled", product)
        case .allCancelled: return [Member("change", "all-cancelled")]
        case .keyLost(let count): return [Member("change", "key-lost"), Member("count", JSONValue(count))]
        }
    }

    private static func name(_ wait: OfflineWait) -> String {
        switch wait {
        case .network: "network"
        case .unmeteredNetwork: "unmetered-network"
        case .space: "space"
        case .storage: "storage"
        case .medium: "medium"
        case .onlineMode: "online-mode"
        case .playback: "playback"
        case .retry: "retry"
        }
    }

    private static func retrySeconds(_ wait: OfflineWait) -> Double? {
        if case .retry(let reason) = wait { return reason.seconds }
        return nil
    }

    private static func name(_ mode: AudioMode) -> String {
        switch mode {
        case .stereo: "stereo"
        case .sony360RA: "sony-360ra"
        case .dolbyAtmos: "dolby-atmos"
        }
    }

    private static func name(_ presentation: AssetPresentation) -> String {
        switch presentation {
        case .full: "full"
        case .preview: "preview"
        }
    }

    private static func name(_ quality: AudioQuality) -> String {
        switch quality {
        case .low: "low"
        case .high: "high"
        case .lossless: "lossless"
        case .hiRes: "hi-res"
        case .hiResLossless: "hi-res-lossless"
        }
    }
}
