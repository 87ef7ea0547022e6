import CLinux
import Database
import Foundation
import Glibc
import Platform
import Testing

@Suite("The daemon as a process", .timeLimit(.minutes(10)))
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
            try database.execute(change)
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
        // Nobody reads: opening it for writing never returns.
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
        // After the first signal it leaves the device behind and ends by itself.
        let result = try running.daemon.finish()
        #expect(result.code == (twice ? 128 + SIGINT : 0), "\(result.errors)")
    }

    @Test("A crash leaves no memory image, where keys and tokens are")
    func memoryImage() throws {
        let program = try Program()
        // Both wait for the other end of the pipe.
        #expect(mkfifo(program.folder["pipe"], 0o600) == 0)
        try Recording(frames: 44_100).encode(to: program.folder["a.flac"])
        let play = "\(try Program.path()) play --device file:FILE=pipe,FORMAT=raw a.flac"
        for (command, leavesImage) in [("cat pipe", true), (play, false)] {
            let script = "cd \(program.folder.path) && ulimit -c unlimited && exec \(command)"
            var arguments = [strdup("sh"), strdup("-c"), strdup(script), nil]
            defer { for argument in arguments { free(argument) } }
            // The threads of tests block signals, and a child has their mask.
            var attributes = posix_spawnattr_t()
            posix_spawnattr_init(&attributes)
            defer { posix_spawnattr_destroy(&attributes) }
            var none = sigset_t()
            sigemptyset(&none)
            posix_spawnattr_setsigmask(&attributes, &none)
            posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
            var child: pid_t = 0
            try #require(posix_spawn(&child, "/bin/sh", nil, &attributes, &arguments, environ) == 0)
            // `sh` has become the program when its command line says so, and the program has begun when it sleeps.
            while !isWaiting(child) { sched_yield() }
            kill(child, SIGABRT)
            var status: Int32 = 0
            try #require(waitpid(child, &status, 0) == child)
            try #require(status & 0x7F == SIGABRT)
            if leavesImage, status & 0x80 == 0 { return }  // This system keeps none of anybody.
            #expect((status & 0x80 != 0) == leavesImage, "\(command)")
        }
    }

    private func isWaiting(_ process: pid_t) -> Bool {
        let name = (try? String(contentsOfFile: "/proc/\(process)/comm", encoding: .utf8)) ?? ""
        let stat = (try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8)) ?? ""
        return name != "sh\n" && stat.contains(") S ")
    }
}
