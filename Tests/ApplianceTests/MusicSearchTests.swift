import ApplianceTestSupport
import CLinux
import Foundation
import Platform
import TestSupport
import Testing

@testable import Appliance

@Suite("Searches for music stay in the background")
struct MusicSearchTests {
    /// The priority of the searching thread: its share of the processor, and its class for the disk.
    private struct Priority: Equatable {
        var nice: Int
        /// `IOPRIO_CLASS_IDLE` is 3.
        var diskClass: Int

        static func ofThisThread() throws -> Priority {
            // The 19th field of proc_pid_stat(5), counted after the name, which may have blanks.
            let stat = String(decoding: try File.contents(of: "/proc/thread-self/stat", limit: 4096), as: UTF8.self)
            let fields = try #require(stat.split(separator: ")").last).split(separator: " ")
            typealias SystemCall = @convention(c) (Int, Int, Int) -> Int
            let call = unsafeBitCast(try #require(dlsym(nil, "syscall")), to: SystemCall.self)
            #if arch(x86_64)
                let ioprioGet = 252
            #else
                let ioprioGet = 31
            #endif
            return Priority(nice: try #require(Int(fields[16])), diskClass: call(ioprioGet, 1, 0) >> 13)
        }
    }

    @Test("with the lowest share of the processor, and the disk when nobody else wants it")
    func priority() throws {
        let loop = try EventLoop()
        let seen = Recorder<Priority?>()
        let searches = MusicSearches(loop: loop) { _ in
            seen.record(try? Priority.ofThisThread())
            return .success(FoundMusic())
        }
        searches.begin(try MusicSearch(["/"], limit: 1)) { _ in loop.stop() }
        loop.run()
        #expect(seen.elements == [Priority(nice: 19, diskClass: 3)])
        #expect(try Priority.ofThisThread() != Priority(nice: 19, diskClass: 3), "and nothing else is")
    }

    @Test("A search that is cancelled ends in the middle of a folder, and finds nothing", arguments: [false, true])
    func cancelled(beforeItBegins: Bool) throws {
        let folder = try ScratchFolder()
        for number in 0..<500 { try Data().write(to: URL(fileURLWithPath: folder["\(number).flac"])) }
        let loop = try EventLoop()
        let searches = MusicSearches(loop: loop) { search in
            if !beforeItBegins { search.cancel() }
            return search.run()
        }
        let search = try MusicSearch([folder.path], limit: 1000)
        if beforeItBegins { search.cancel() }
        var failure: RemoteFailure?
        searches.begin(search) { result in
            if case .failure(let error) = result { failure = error }
            loop.stop()
        }
        loop.run()
        #expect(failure?.message == "the search for music was cancelled")
        #expect(searches.runningCount == 0)
    }
}
