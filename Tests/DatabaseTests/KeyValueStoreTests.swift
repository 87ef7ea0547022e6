import Platform
import Testing
import TestSupport
@testable import Database

@Suite("Configuration")
struct KeyValueStoreTests {
    let folder: ScratchFolder
    let path: String

    init() throws {
        folder = try ScratchFolder()
        path = folder["player.sqlite"]
    }

    /// Opens the store as after a restart.
    func open() throws -> KeyValueStore {
        let database = try Database(path: path)
        try database.migrate([SchemaModule("player", [Migration(1, KeyValueStore.schema())])])
        return KeyValueStore(database)
    }

    @Test("keeps values of every type across restarts")
    func types() throws {
        let store = try open()
        try store.set(.text("hw:CARD=DAC"), for: "device")
        try store.set(.real(-2.5), for: "preAmp")
        try store.set(.integer(80), for: "volume")
        try store.set(true, for: "gapless")
        let restarted = try open()
        #expect(try restarted.text("device") == "hw:CARD=DAC")
        #expect(try restarted.real("preAmp") == -2.5)
        #expect(try restarted.integer("volume") == 80)
        #expect(try restarted.real("volume") == 80)
        #expect(try restarted.boolean("gapless") == true)
    }

    @Test("a value that was never set, or has another type, is nil")
    func absent() throws {
        let store = try open()
        try store.set(.text("loud"), for: "volume")
        #expect(try store.integer("volume") == nil)
        #expect(try store.boolean("volume") == nil)
        #expect(try store.value("device") == nil)
    }

    @Test("setting replaces, nil and null remove")
    func replace() throws {
        let store = try open()
        for value: DatabaseValue? in [1, 2, nil, 3, .null] {
            try store.set(value, for: "volume")
            #expect(try store.value("volume") == (value == .null ? nil : value))
        }
    }

    @Test("the trusted time survives a restart; an invalid one counts as unknown")
    func trustedTime() throws {
        #expect(TrustedTimeRow(try open()).load() == nil)
        let record = TrustedTime.Record(milliseconds: 1_790_000_000_123, sinceBoot: .max, boot: "a-b-c")
        try TrustedTimeRow(open()).save(record)
        #expect(TrustedTimeRow(try open()).load() == record)
        var other = record
        other.isProved = false
        try TrustedTimeRow(open()).save(other)
        #expect(TrustedTimeRow(try open()).load() == other)
        try open().set(.text("1790000000123 5 a-b-c"), for: "trustedTime")
        #expect(TrustedTimeRow(try open()).load()?.isProved == false)
        for damaged in ["", "1", "1 2", "x y z", "1 2 3 4", "1 2 a proved x", "1.5 2 a"] {
            try open().set(.text(damaged), for: "trustedTime")
            #expect(TrustedTimeRow(try open()).load() == nil)
        }
    }
}
