import Foundation
import Platform
import TestSupport
import Testing

@testable import Database

/// A state file as a kill leaves it: everything is in the log.
func makeLog(_ path: String, transactions: Int) throws -> (image: Data, log: Data) {
    let database = try Database(path: path)
    try database.execute("CREATE TABLE t (k INTEGER PRIMARY KEY, v TEXT)")
    try database.checkpoint()
    for number in 1...transactions {
        try database.transaction { () throws(DatabaseError) in
            for row in 0..<3 {
                try database.execute(
                    "INSERT INTO t VALUES (?, ?)", .integer(Int64(10 * number + row)),
                    .text(String(repeating: "row \(number).\(row) ", count: 90)))
            }
        }
    }
    return (
        try Data(contentsOf: URL(fileURLWithPath: path)), try Data(contentsOf: URL(fileURLWithPath: path + "-wal"))
    )
}

@Suite("The write-ahead log")
struct WriteAheadLogTests {
    let folder: ScratchFolder
    private let made: (image: Data, log: Data)
    private var log: Data { made.log }
    private let path: String

    init() throws {
        folder = try ScratchFolder()
        made = try makeLog(folder["made.db"], transactions: 6)
        path = folder["log"]
    }

    private func examine(_ bytes: Data) throws -> WriteAheadLog {
        try bytes.write(to: URL(fileURLWithPath: path))
        return try WriteAheadLog(path)
    }

    @Test("a whole log, none, an empty one and one that a power cut has ended are not damaged")
    func whole() throws {
        #expect(try WriteAheadLog(folder["missing"]).damage == nil)
        #expect(try examine(log).damage == nil)
        for length in stride(from: 0, to: log.count, by: 1021) {
            #expect(try examine(log.prefix(length)).damage == nil, "cut at \(length)")
            // A file system may have made the file longer before the bytes came.
            #expect(try examine(log.prefix(length) + Data(count: 9000)).damage == nil, "zeros from \(length)")
        }
        let noise = Data((0..<100_000).map { UInt8(truncatingIfNeeded: $0 * 31) })
        #expect(try examine(noise).damage == nil)
    }

    @Test("one wrong bit anywhere is found, and the repaired copy equals the original")
    func wrongBit() throws {
        var random = SeededRandom(5)
        // Every field of the header and of the first frame, then bits anywhere.
        let bits =
            Array(stride(from: 0, to: 8 * 56, by: 3))
            + (0..<250).map { _ in Int(random.next() % UInt64(8 * log.count)) }
        for bit in bits {
            var damaged = log
            damaged[bit / 8] ^= 1 << UInt8(bit % 8)
            let examined = try examine(damaged)
            let damage = try #require(examined.damage, "bit \(bit)")
            // The checksum cannot tell the highest bits of a page's words apart, and no frame follows the last one.
            let isAmbiguous = bit / 8 >= 32 && bit % 32 >= 23 || bit / 8 >= log.count - 4120
            #expect(damage.isRepairable || isAmbiguous, "bit \(bit)")
            try examined.repair(copy: path)
            if damage.isRepairable {
                #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == log, "bit \(bit)")
            } else {
                // Only the one bit and the checksums differ, and the log can be read to its end.
                #expect(try WriteAheadLog(path).damage == nil, "bit \(bit)")
                try made.image.write(to: URL(fileURLWithPath: folder["read.db"]))
                try Data(contentsOf: URL(fileURLWithPath: path)).write(to: URL(fileURLWithPath: folder["read.db-wal"]))
                let frames = try rows("PRAGMA wal_checkpoint", columns: 3, in: try Database(path: folder["read.db"]))[
                    0][1]
                #expect(frames == .integer(Int64((log.count - 32) / 4120)), "bit \(bit)")
            }
        }
    }

    @Test("more wrong bytes in a transaction that others follow are damage; in the last one they are a cut write")
    func wrongBytes() throws {
        let frame = 24 + 4096
        let count = (log.count - 32) / frame
        // The commit before the last one ends the last transaction but one.
        let commits = (0..<count).filter { index in
            log[(32 + index * frame + 4)..<(32 + index * frame + 8)].contains { $0 != 0 }
        }
        for index in 0..<count {
            var damaged = log
            for byte in 0..<100 { damaged[32 + index * frame + 200 + byte] = 0xA5 }
            let isLast = index > commits[commits.count - 2]
            let found = try examine(damaged).damage
            #expect(found == (isLast ? nil : .init(frame: index, isRepairable: false)))
        }
    }

    @Test("a commit with wrong bytes is damage also when each frame behind it has a wrong bit")
    func wrongBytesAndBits() throws {
        let frame = 24 + 4096
        let count = (log.count - 32) / frame
        let commit = try #require(
            (0..<(count - 1)).last { index in
                log[(32 + index * frame + 4)..<(32 + index * frame + 8)].contains { $0 != 0 }
            })
        var damaged = log
        for byte in 0..<100 { damaged[32 + commit * frame + 200 + byte] = 0xA5 }
        for index in (commit + 1)..<count { damaged[32 + index * frame + 1200] ^= 1 }
        let examined = try examine(damaged)
        #expect(examined.damage == .init(frame: commit, isRepairable: false))
        try examined.repair(copy: path)
        #expect(try WriteAheadLog(path).damage == nil)
    }
}
