import CLinux
import Database
import Foundation
import Glibc
import Platform
import Testing
import ProgramTestSupport

@Suite("The daemon as a process")
struct RunCommandTests {
    @Test(
        "A state of a newer version: exit code 78, what to do, and the state as it was",
        arguments: ["PRAGMA user_version = 99", "UPDATE schema_module SET number = 99 WHERE module = 'appliance'"])
    func newerState(change: String) throws {
        let first = try RunningDaemon()
        #expect(try first.end().code == 0)
        let path = first.program.folder["daemon/tonearm.db"]
        do {
            let database = try Database(path: path)
            try database.execute(script: "CREATE TABLE queue_of_tomorrow (k); \(change)")
        }
        let before = try first.program.bytes("daemon/tonearm.db")
        let result = try first.program.run("run", "--config", "tonearm.conf")
        #expect(result.code == 78)
        #expect(result.errors.contains(path) && result.errors.contains("newer version"), "\(result.errors)")
        #expect(FileKind(at: first.socket) == nil)
        #expect(try first.program.bytes("daemon/tonearm.db") == before)
    }

    @Test(
        "SIGTERM ends it although opening the device blocks, and a second signal ends it at once",
        arguments: [false, true])
    func blockedDevice(twice: Bool) throws {
        let program = try Program()
        // No process reads the pipe: opening it for writing never returns.
        #expect(mkfifo(program.folder["pipe"], 0o600) == 0)
        let running = try RunningDaemon(device: "file:FILE=\(program.folder["pipe"]),FORMAT=raw")
        try Recording(frames: 44_100).encode(to: program.folder["a.flac"])
        let watch = try program.start(["status", "--watch", "--json", "--socket", running.socket])
        #expect(try running.run("queue", "set", "--play", program.folder["a.flac"]).code == 0)
        // The device should have started a second ago.
        try watch.line { $0["state"] == "stalled" }
        running.daemon.send(SIGTERM)
        // Its clients are disconnected: the loop has ended, and reads no signals any more.
        _ = try watch.finish()
        if twice { running.daemon.send(SIGINT) }
        // After the first signal it abandons the device and ends by itself.
        let result = try running.daemon.finish()
        #expect(result.code == (twice ? 128 + SIGINT : 0), "\(result.errors)")
    }
}
