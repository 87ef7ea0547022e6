// The database's rows: bytes become rows of an in-memory database, and the queue and the settings are loaded from it as
// a start does.

import Glibc
import Platform

@testable import Appliance
@testable import Database
@testable import Offline
@testable import Playback
@testable import Player
@testable import Queue

/// Every column that is read at a start, of the tables in their order.
private let tables: [(name: String, columns: [String])] = [
    ("queue_entry", ["id", "type", "product", "source_type", "source_id", "extras"]),
    ("queue_order", ["key", "entry"]), ("queue_shuffled_order", ["key", "entry"]),
    ("queue_state", ["id", "repeat", "shuffled", "current", "history", "next_number", "playing"]),
    ("queue_position", ["id", "entry", "milliseconds"]), ("setting", ["key", "value"]),
    ("configuration", ["key", "value"]), ("queue_medium", ["mount_point"]),
    (
        "offline_item",
        [
            "product", "reference", "request", "received", "fingerprint", "content", "key", "license", "count",
            "revalidate_at", "valid_until", "is_damaged", "is_automatic", "plays", "played",
        ]
    ),
    (
        "offline_job",
        [
            "number", "product", "reference", "request", "priority", "state", "failure", "is_automatic", "content",
            "key", "fingerprint", "synced", "parts", "percent", "is_repair",
        ]
    ),
    ("offline_folder", ["id", "name"]),
]

/// Texts that the program looks for.
private let known = [
    "audio.maximum-volume", "playback.volume", "playback.maximumVolume", "tonearm:track/7", "LOSSLESS HIGH",
    #"{"id":"tonearm:track/7","presentation":"FULL"}"#, "0 \"a\"\n65536\n",
]

/// Takes values from the fuzzer's bytes.
private struct Input {
    var bytes: ArraySlice<UInt8>

    mutating func byte() -> UInt8? { bytes.popFirst() }

    /// The first byte chooses the type: integers of few or many bits, a double, text, a blob, NULL.
    mutating func value() -> DatabaseValue? {
        guard let type = byte() else { return nil }
        switch type % 8 {
        case 0: return .null
        case 1: return .integer(Int64(byte() ?? 0))
        case 2: return .integer(number())
        case 3: return .integer(Int64(UInt32.max) - Int64(byte() ?? 0) + 2)
        case 4: return .real(Double(bitPattern: UInt64(bitPattern: number())))
        case 5: return .text(known[Int(type / 8) % known.count])
        case 6: return .text(String(decoding: blob(), as: UTF8.self))
        default: return .bytes(blob())
        }
    }

    private mutating func number() -> Int64 { (0..<8).reduce(0) { value, _ in value << 8 | Int64(byte() ?? 0) } }

    private mutating func blob() -> [UInt8] {
        let length = Int(byte() ?? 0)
        defer { bytes = bytes.dropFirst(length) }
        return Array(bytes.prefix(length))
    }
}

/// State that another program, or a failing medium, may leave.
let databaseTargets = [
    FuzzTarget("database-rows") { loadRows(of: $0) },
    FuzzTarget("write-ahead-log") { repairLog(of: $0) },
]

/// Checks that a repaired log has no damage left.
private func repairLog(of bytes: [UInt8]) {
    let path = "/dev/shm/tonearm-fuzz-\(getpid())"
    defer { unlink(path) }
    do throws(SystemError) {
        try write(bytes, path)
        let log = try WriteAheadLog(path)
        guard log.damage != nil else { return }
        try log.repair(copy: path)
        let left = try WriteAheadLog(path).damage
        require(left == nil, "damage is left: \(String(describing: left)) of \(String(describing: log.damage))")
    } catch {
        require(false, "\(path): \(error)")
    }
}

private func write(_ bytes: [UInt8], _ path: String) throws(SystemError) {
    unlink(path)
    let file = try File(creating: path)
    let failure = bytes.withUnsafeBytes { bytes in
        do throws(SystemError) {
            try file.write(bytes, at: 0)
            return nil as SystemError?
        } catch {
            return error
        }
    }
    if let failure { throw failure }
}

/// Reads offline copies and downloads, as lists, downloads and validations do.
private func loadOffline(_ rows: OfflineRows) throws(DatabaseError) {
    for item in try rows.items(after: "", limit: 100) {
        _ = OfflineEntry(item, at: 1)
        require(item.content.count == 16 && item.count >= 0, "an item that cannot be read")
        _ = try rows.markDamaged(item)
    }
    _ = try rows.due(.max, after: (.min, ""), limit: 100)
    for var download in try rows.downloads(after: .min, limit: 100) {
        _ = OfflineEntry(download, OfflineSchedule(limit: 3).status(of: download))
        guard var progress = download.progress else { continue }
        let start = progress.parts.cut(to: progress.synced)
        require(start.offset >= 0 && start.index >= 0, "a place before the content")
        progress.parts.forgetValidators(before: progress.synced)
        download.progress = progress
        _ = try rows.setProgress(progress, of: download)
        require(try rows.download(download.product)?.progress == progress, "a record that is not what was written")
    }
    _ = try rows.nextDownloads(limit: 10)
    _ = try (rows.folderID(), rows.haveContents(), rows.chosenBytes())
    try rows.recount()
    _ = try OfflineSpace.used(rows)
    _ = try rows.leastWorthKeeping(now: 0)
    _ = try rows.lose { key, _ in key.first == 0 }
    _ = try rows.regain { key, _ in key.last == 0 }
}

private func loadRows(of bytes: [UInt8]) {
    do throws(DatabaseError) {
        let database = try Database.inMemory()
        try database.migrate([Player.schema, ApplianceState.schema, Offlining.schema])
        var input = Input(bytes: bytes[...])
        while let table = input.byte() {
            let (name, columns) = tables[Int(table) % tables.count]
            let values = columns.map { _ in input.value() ?? .null }
            let places = columns.map { _ in "?" }.joined(separator: ", ")
            // Rows that the table's own rules refuse are not written.
            var statement = try database.prepare("INSERT OR IGNORE INTO \(name) VALUES (\(places))")
            try? statement.bind(values)
            _ = try? statement.step()
        }
        let store = QueueStore(database)
        var contents = try store.contents()
        if let last = contents.queue.playOrder.last { try? contents.queue.move(last, to: 0) }
        _ = try? contents.queue.insert([QueuedProduct(.track, "/x")], at: 1)
        _ = contents.queue.next()
        if let change = contents.image.change(to: contents.queue, isPlaying: true) { try store.write(change) }
        let loss = try store.contents().loss
        require(loss == nil, "what was written is not whole: \(loss ?? "")")
        try loadOffline(OfflineRows(database))
        let settings = KeyValueStore(database, table: ApplianceState.settingTable)
        var texts: [SettingName: String] = [:]
        for name in SettingName.allCases { texts[name] = try settings.text(name.path) }
        _ = Configuration().overruled(by: texts)
        _ = try ConfigurationStorage.readAll(PlaybackEngineConfig.Values(), KeyValueStore(database), false)
    } catch {
        fatalError("the state cannot be loaded: \(error)")
    }
}
