import CLinux
import Database

/// Writes numbered items for ever, and acknowledges each on stdout once it is durable. So a test can end the process at
/// any moment and count the items that must be there: `CutProgram key-values DATABASE [LARGEST FILE IN BYTES]`. Items
/// with an even number are pairs, written in one transaction.
enum KeyValueWriter {
    static let migrations = [SchemaModule("player", [Migration(1, KeyValueStore.schema())])]

    static func run(_ words: [String]) {
        if words.count > 1, let limit = UInt(words[1]) {
            // Writing beyond the limit then fails with EFBIG rather than ending the process.
            var blocked = sigset_t()
            sigaddset(&blocked, SIGXFSZ)
            pthread_sigmask(SIG_BLOCK, &blocked, nil)
            var limits = rlimit(rlim_cur: limit, rlim_max: limit)
            setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limits)
        }
        do throws(DatabaseError) {
            try write(to: try Database(path: words[0]))
        } catch {
            CutProgram.say("\(error.kind)")
        }
    }

    private static func write(to database: Database) throws(DatabaseError) {
        try database.migrate(migrations)
        // A checkpoint every few items: the process must be killed in them too.
        try database.execute("PRAGMA wal_autocheckpoint=8")
        let store = KeyValueStore(database)
        var number = try store.integer("count") ?? 0
        while true {
            number += 1
            try database.transaction { () throws(DatabaseError) in
                try store.set(.text(payload(number)), for: "item \(number)")
                if number % 2 == 0 { try store.set(.text(payload(-number)), for: "item \(-number)") }
                try store.set(.integer(number), for: "count")
            }
            CutProgram.say("\(number)")
        }
    }

    /// The size of an item: from a few bytes to several pages.
    static func payload(_ number: Int64) -> String {
        String(repeating: "item \(number). ", count: Int(abs(number) * 37 % 1000))
    }
}
