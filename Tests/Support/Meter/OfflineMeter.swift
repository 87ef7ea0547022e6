import Account
import Crypto
import Database
import Glibc
import Network
import Offline
import OfflineTestSupport
import Platform
import Playback
import Player

/// How long the offline engine takes with many offline copies.
///
///     Meter offline FOLDER COUNT
///
/// Fills an empty folder with so many products, starts the engine on it, and prints one line for each measurement.
/// `start` is the time until the first answer, `state` that of one product (the median), `due` that of choosing those
/// to validate, each in microseconds. `bytes` is the size of the database for each product.
enum OfflineMeter {
    static func run(_ words: [String]) throws {
        guard words.count == 2, let count = Int(words[1]) else { Meter.fail("usage: Meter offline FOLDER COUNT") }
        try measure(words[0], count)
    }

    private static func measure(_ folder: String, _ count: Int) throws {
        try fill(folder, count)
        let clock = SystemMonotonicClock()
        let begin = clock.now()
        let storage = try StorageThread("\(folder)/tonearm.db", modules: [Player.schema, Offlining.schema])
        let time = ManualTime()
        time.seconds = 1_000_000
        let service = OfflineService(
            network: OfflineTestService(), settings: ServiceSettings(baseURL: "https://service"),
            credentials: StaticCredentials(token: nil))
        let offlining = try Offlining(
            OfflineSettings(folder: "\(folder)/offline"), service, evictCache: nil, storage: storage,
            clock: TrustedClock(store: nil, source: time), keyFolder: folder)
        let loop = try EventLoop()
        let configuration = OfflineEngineConfig(PlaybackEngineConfig(PlaybackEngineConfig.Values()))
        let conductor = OfflineConductor(offlining, loop: loop, configuration)
        let engine = OfflineEngine(loop: loop, offlining, conductor: conductor, configuration: configuration)
        loop.post { conductor.start() }
        let thread = try NamedThread.start(name: "control") { loop.run() }
        guard engine.getOfflineState(product(count / 2)) == .offlinedAndValid else { exit(1) }
        print("start \((clock.now() - begin) / 1000)")
        print("state \(median(of: 1001) { _ = engine.getOfflineState(product($0 * 97 % count)) })")
        let store = offlining.store
        print(
            "due",
            median(of: 101) { _ in
                let due = store.waitToRead { (rows) throws(DatabaseError) in
                    try rows.due(1_000_000, after: (.min, ""), limit: 8)
                }
                guard due?.count == 8 else { exit(2) }
            })
        loop.post { conductor.shutDown() }
        loop.stop()
        thread.join()
        conductor.close()
        let size = try File(reading: "\(folder)/tonearm.db").length()
        print("bytes \(size / Int64(count))")
    }

    private static func product(_ number: Int) -> MediaProduct {
        MediaProduct(productType: .track, productId: "tonearm:track/\(number)", referenceId: "\(number)")
    }

    /// A tenth of the products is due.
    private static func fill(_ folder: String, _ count: Int) throws {
        let database = try Database(path: "\(folder)/tonearm.db")
        try database.migrate([Player.schema, Offlining.schema])
        let file = [UInt8](repeating: 0, count: Int(SealedLayout.sealedCount(of: 0) ?? 0))
        for byte in UInt8.min...UInt8.max { try Folder.create("\(folder)/offline/\(hexadecimal([byte]))") }
        try database.transaction { () throws(DatabaseError) in
            for number in 0..<count {
                let content = SystemRandomSource().bytes(16)
                try addRow(number, content, to: database)
                let name = hexadecimal(content)
                do throws(SystemError) {
                    let created = try File(creating: "\(folder)/offline/\(name.prefix(2))/\(name)")
                    try file.withUnsafeBytesTyped { (bytes) throws(SystemError) in try created.write(bytes, at: 0) }
                } catch {
                    throw DatabaseError(error, path: folder)
                }
            }
        }
        try database.checkpoint()
    }

    /// Adds the row of an empty copy. The offline engine reads it back, so `run` fails if the form is another one.
    private static func addRow(_ number: Int, _ content: [UInt8], to database: Database) throws(DatabaseError) {
        let product = product(number).productId
        let received = """
            {"id":"\(product)","presentation":"FULL","mode":"STEREO","quality":"LOSSLESS","trackGain":-7.25,\
            "trackPeak":0.98,"albumGain":-7.0,"albumPeak":1.0,"title":"The title of a song",\
            "artist":"The name of an artist"}
            """
        try database.execute(
            """
            INSERT INTO offline_item (product, reference, request, received, fingerprint, content, key, count,
            revalidate_at, valid_until, is_damaged, is_automatic, plays, played)
            VALUES (?, ?, 'LOSSLESS HIGH', ?, ?, ?, ?, 0, ?, 3000000, 0, 0, 0, 0)
            """,
            .text(product), .text("\(number)"), .text(received), .bytes(SystemRandomSource().bytes(44)),
            .bytes(content), .bytes(SystemRandomSource().bytes(61)), .integer(number % 10 == 0 ? 900_000 : 2_000_000))
    }

    /// The median in microseconds.
    private static func median(of count: Int, _ body: (Int) -> Void) -> Int64 {
        let clock = SystemMonotonicClock()
        let times = (0..<count).map { number in
            let begin = clock.now()
            body(number)
            return clock.now() - begin
        }
        return times.sorted()[count / 2] / 1000
    }
}

extension [UInt8] {
    /// The standard library's function of this kind loses the type of the error.
    fileprivate func withUnsafeBytesTyped(
        _ body: (UnsafeRawBufferPointer) throws(SystemError) -> Void
    ) throws(SystemError) {
        try withUnsafeBufferPointer { (bytes) throws(SystemError) in try body(UnsafeRawBufferPointer(bytes)) }
    }
}
