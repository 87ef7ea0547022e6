import Platform

/// A download that was asked for. It is in the database until it is done, deleted, or given up by the user.
struct OfflineJob: Equatable, Sendable {
    enum State: Int64, Sendable {
        case queued = 0
        case paused = 1
        case failed = 2
    }

    /// In the order of the requests.
    var number: Int64
    var product: ServiceAddress
    var referenceId: String
    var request: OfflineRequest
    /// Higher ones go first.
    var priority: Int64
    var state = State.queued
    /// Why it failed, for a person.
    var failure: String?
    /// It has failed and begins again, which is told also when it has something on the medium. In the database its
    /// reason is empty, until something of it is recorded.
    var isToBeTold = false
    /// The appliance chose to keep it, and may drop it.
    var isAutomatic = false
    /// What is on the medium of it; nil before the first byte.
    var progress: OfflineProgress?
}

/// The part of a download that is on the medium. It is recorded after the file was synced, so it is never more than
/// there is.
struct OfflineProgress: Equatable, Sendable {
    /// The name of the file, as in `OfflineItem`.
    var content: [UInt8]
    var sealedKey: [UInt8]
    /// Of the content that it is a part of.
    var fingerprint: [UInt8]
    /// Whole chunks, in bytes of the content.
    var synced: Int64
    var parts = ContentParts()
    /// Of the whole download.
    var percent: Int64
}

/// The resources that a kept file consists of, one behind the other: where each one begins, and the validator with
/// which the last ones can be continued.
struct ContentParts: Equatable, Sendable {
    struct Part: Equatable, Sendable {
        /// In bytes of the content.
        var start: Int64
        /// A strong ETag, or the date of the last change; nil when the server gave none.
        var validator: String?
    }

    var all: [Part] = []

    /// Where to continue after `count` bytes: in which resource, at which of its bytes, and only if it is still the
    /// same. What begins behind `count` is forgotten.
    mutating func cut(to count: Int64) -> (index: Int, offset: Int64, validator: String?) {
        var nextStart: Int64?
        while let last = all.last, last.start >= count {
            nextStart = last.start
            all.removeLast()
        }
        // Where the next one begins, the last one is complete.
        guard let last = all.last, nextStart != count else { return (all.count, 0, nil) }
        return (all.count - 1, count - last.start, last.validator)
    }

    /// The validators of resources that end before `count` are not needed any more.
    mutating func forgetValidators(before count: Int64) {
        for index in all.indices.dropLast() where all[index + 1].start <= count { all[index].validator = nil }
    }

    /// As the database has it: a line for each resource, `start` or `start validator`.
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

    /// nil for a text that is none.
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
