import Platform
import Playback

/// A requested download. It is in the database until it is done, deleted, or cancelled by the user.
struct OfflineJob: Equatable, Sendable {
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
    /// Higher ones go first.
    var priority: Int64
    var state = State.queued
    /// Why it failed, for the user.
    var failure: String?
    /// Whether it failed and begins again: `.started` is then sent even if a part is on the medium. In the database its
    /// reason is empty until progress is recorded.
    var isToBeTold = false
    /// Whether the appliance chose it, and may remove it.
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
