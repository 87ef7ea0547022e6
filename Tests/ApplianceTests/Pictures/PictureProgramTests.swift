import ApplianceTestSupport
import Foundation
import PictureRequests
import Platform
import TestSupport
import Testing

@testable import Appliance

@Suite("Thumbnails: the life of the program that makes them (docs/decisions/pictures.md)")
struct PictureProgramTests {
    private let folder: ScratchFolder
    private let simulated: SimulatedPictures
    private let clock = ManualClock()

    init() throws {
        folder = try ScratchFolder()
        simulated = try SimulatedPictures(in: folder["bin"])
    }

    private func program(_ limits: PictureProgram.Limits = .ofTests) -> PictureProgram {
        PictureProgram(simulated.program, limits: limits, clock: clock)
    }

    /// Asks for a thumbnail of a picture, which lies at an offset of its file.
    private func ask(_ program: PictureProgram, _ code: UInt8) throws -> PictureProgram.Answer {
        let picture = SimulatedPictures.picture(code)
        let path = folder["\(code)"]
        try Data([1, 2, 3] + picture).write(to: URL(fileURLWithPath: path))
        let file = try File(reading: path)
        let result = try MemoryFile("result")
        let request = PictureRequest(longestSide: 160, offset: 3, length: Int64(picture.count))
        let answer = program.answer(to: request, picture: file.descriptor, result: result.descriptor)
        if case .answered(let made) = answer, made.outcome == .made, code != UInt8(ascii: "B") {
            #expect(result.read(made.length) == SimulatedPictures.thumbnail(160))
        }
        return answer
    }

    @Test("It starts with the first request, and makes the others; it has no file but the log and the request's")
    func requests() throws {
        let program = program()
        #expect(program.exists && simulated.requests.isEmpty)
        for _ in 1...3 {
            #expect(try ask(program, 0) == .answered(PictureAnswer(.made, width: 160, height: 80, length: 200)))
        }
        for outcome in PictureOutcome.allCases where outcome != .made {
            #expect(try ask(program, UInt8(outcome.rawValue)) == .answered(PictureAnswer(outcome)))
        }
        let requests = simulated.requests
        #expect(requests.count == 8 && Set(requests.map(\.process)).count == 1)
        for request in requests {
            #expect(request.side == 160 && request.offset == 3 && request.length == 104)
            // The packet's two are 3 and 4.
            #expect(request.descriptors == [0, 1, 2, 3, 4])
        }
    }

    @Test("One that was idle for 20 s is not asked any more: another one starts")
    func idle() throws {
        let program = program()
        _ = try ask(program, 0)
        clock.advance(by: 19_000_000_000)
        _ = try ask(program, 0)
        clock.advance(by: 20_000_000_000)
        _ = try ask(program, 0)
        let processes = simulated.requests.map(\.process)
        #expect(processes[0] == processes[1] && processes[1] != processes[2])
        expectSoon("the end of the former one") { kill(pid_t(processes[0]), 0) != 0 }
        #expect(kill(pid_t(processes[2]), 0) == 0)
    }

    @Test("One that ends without an answer, or sends something else, is replaced", arguments: ["E", "S"])
    func ended(code: String) throws {
        let program = program()
        #expect(try ask(program, code.utf8.first!) == .ended)
        #expect(try ask(program, 0) == .answered(PictureAnswer(.made, width: 160, height: 80, length: 200)))
        #expect(Set(simulated.requests.map(\.process)).count == 2)
    }

    @Test("One that was killed while it was idle is replaced, and the request is made")
    func killed() throws {
        let program = program()
        _ = try ask(program, 0)
        let process = pid_t(try #require(simulated.requests.last).process)
        kill(process, SIGKILL)
        expectSoon("its end") { kill(process, 0) != 0 }
        #expect(try ask(program, 0) == .answered(PictureAnswer(.made, width: 160, height: 80, length: 200)))
    }

    @Test("One that takes too long is killed")
    func slow() throws {
        let program = program(PictureProgram.Limits(request: 1_000_000))
        #expect(try ask(program, UInt8(ascii: "H")) == .tookTooLong)
        // It may have been killed before it could note the request.
        expectSoon("its end") { simulated.requests.allSatisfy { kill(pid_t($0.process), 0) != 0 } }
    }

    @Test("The end of the server ends it in the middle of a request, and none starts afterwards")
    func end() throws {
        let program = program()
        let answer = FutureValue<PictureProgram.Answer?>()
        let thread = try NamedThread.start(name: "asks") { answer.set(try? ask(program, UInt8(ascii: "H"))) }
        expectSoon("the request") { !simulated.requests.isEmpty }
        program.end()
        #expect(answer.wait() == .notStarted)
        thread.join()
        #expect(try ask(program, 0) == .notStarted)
        expectSoon("its end") { simulated.requests.allSatisfy { kill(pid_t($0.process), 0) != 0 } }
    }

    @Test("The end of its owner ends it")
    func abandoned() throws {
        do { _ = try ask(program(), 0) }
        let process = pid_t(try #require(simulated.requests.last).process)
        expectSoon("its end") { kill(process, 0) != 0 }
    }

    @Test("Without the program there are no thumbnails")
    func missing() throws {
        let program = PictureProgram(folder["none"], clock: clock)
        #expect(!program.exists)
        #expect(try ask(program, 0) == .notStarted)
        #expect(PictureProgram.besideThisProgram() == (try TestProcess.path(of: "tonearm-pictures")))
    }
}
