import Database
import Platform
import Playback

/// A requested download. It is in the database until it is done, deleted, or cancelled by the user.
struct QueuedDownload: Equatable, Sendable {
    enum State: Int64, Sendable {
        case queued = 0
        case paused = 1
        case failed = 2
    }

    /// The number in the order of the requests.
    var number: Int64
    var product: ServiceAddress
    var referenceId: String
    var request: OfflineRequest
    /// The priority; higher ones go first.
    var priority: Int64
    var state = State.queued
    /// Why the download failed, for the user.
    var failure: String?
    /// Whether the download failed and begins again. `.started` is then sent even if a part is on the medium. In the
    /// database its reason is empty until progress is recorded.
    var isToBeReported = false
    /// Whether the appliance chose the product, and may remove the download.
    var isAutomatic = false
    /// The part on the medium; nil before the first byte.
    var progress: OfflineProgress?
}

/// The part of a download that is on the medium. It is recorded after the file was synced, so the medium has at least
/// this much.
struct OfflineProgress: Equatable, Sendable {
    /// The name of the file, as in `OfflineItem`.
    var content: [UInt8]
    var sealedKey: [UInt8]
    /// The fingerprint of the content that the part belongs to.
    var fingerprint: [UInt8]
    /// The synced bytes of the content, in whole chunks.
    var synced: Int64
    var parts = ContentParts()
    /// The progress of the whole download.
    var percent: Int64
}

/// The resources of the file of an offline copy, in order: where each one begins, and the validators with which the
/// last ones can be continued.
struct ContentParts: Equatable, Sendable {
    struct Part: Equatable, Sendable {
        /// The first byte in the content.
        var start: Int64
        /// A strong ETag, or the date of the last change; nil when the server gave none.
        var validator: String?
    }

    var all: [Part] = []

    /// Returns where to continue after `count` bytes: the resource, the byte in it, and the validator that it must
    /// still match. Forgets the resources that begin at `count` or later.
    mutating func cut(to count: Int64) -> (index: Int, offset: Int64, validator: String?) {
        var nextStart: Int64?
        while let last = all.last, last.start >= count {
            nextStart = last.start
            all.removeLast()
        }
        // If the next resource begins at `count`, the last one is complete.
        guard let last = all.last, nextStart != count else { return (all.count, 0, nil) }
        return (all.count - 1, count - last.start, last.validator)
    }

    /// Forgets the validators of resources that end before `count`; they are not needed any more.
    mutating func forgetValidators(before count: Int64) {
        for index in all.indices.dropLast() where all[index + 1].start <= count { all[index].validator = nil }
    }

    /// The form in the database: a line for each resource, `start` or `start validator`.
    var text: String {
        var text = ""
        for part in all {
            text += "\(part.start)"
            if let validator = part.validator { text += " \(validator)" }
            text += "\n"
        }
        return text
    }

    init() {}

    /// Returns nil for a text in another form.
    init?(_ text: String) {
        var last: Int64 = 0
        for line in text.utf8.split(separator: UInt8(ascii: "\n")) {
            let words = line.split(separator: UInt8(ascii: " "), maxSplits: 1)
            guard let first = words.first, let start = Int64(String(decoding: first, as: UTF8.self)), start >= last
            else { return nil }
            last = start
            all.append(
                Part(start: start, validator: words.count > 1 ? String(decoding: words[1], as: UTF8.self) : nil))
        }
    }
}

extension QueuedDownload {
    /// Reads the columns of `OfflineQueries.downloadColumns`; nil for a damaged row.
    init?(_ row: borrowing Statement) {
        guard let number = row.integer(0), let product = row.text(1).flatMap({ ServiceAddress($0) }),
            let reference = row.text(2), let request = row.text(3).flatMap({ OfflineRequest($0) }),
            let priority = row.integer(4), let state = row.integer(5).flatMap({ State(rawValue: $0) })
        else { return nil }
        self.init(
            number: number, product: product, referenceId: reference, request: request, priority: priority,
            state: state, isAutomatic: row.integer(7) == 1)
        if let text = row.text(6) { if text.isEmpty { isToBeReported = true } else { failure = text } }
        if let content = row.bytes(8), content.count == 16, let key = row.bytes(9), let fingerprint = row.bytes(10),
            let synced = row.integer(11), OfflineSize.counted(synced) == synced,
            let parts = row.text(12).flatMap({ ContentParts($0) })
        {
            progress = OfflineProgress(
                content: content, sealedKey: key, fingerprint: fingerprint, synced: synced, parts: parts,
                percent: min(max(row.integer(13) ?? 0, 0), 100))
        }
    }
}
