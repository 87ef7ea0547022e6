import Foundation
import PictureRequests
import PictureTestSupport
import TestSupport
import Testing

@testable import PictureService
@testable import Pictures

@Suite("tonearm-pictures", .enabled(if: EncodedPicture.canBeMade, "python3-pil is missing: run tools/setup"))
struct PictureProgramTests {
    /// The program, as the daemon starts it.
    private struct Running {
        let connection: PictureConnection
        let process: TestProcess

        init() throws {
            connection = try PictureConnection()
            process = try TestProcess(
                TestProcess.path(of: "tonearm-pictures"), [], environment: [:],
                input: .descriptor(connection.other), output: .null)
            connection.closeOther()
        }

        func fields(_ file: String) throws -> String {
            try String(contentsOfFile: "/proc/\(process.identifier)/\(file)", encoding: .utf8)
        }
    }

    private func request(_ file: [UInt8], side: Int = 160, offset: Int64 = 0) -> PictureRequest {
        PictureRequest(longestSide: side, offset: offset, length: Int64(file.count))
    }

    @Test("makes thumbnails of ranges of files, one after the other, and ends when the connection ends")
    func thumbnails() throws {
        let program = try Running()
        let names = [
            "jpeg-large", "jpeg-progressive", "png-rgba", "webp-lossy-alpha", "jpeg-turned-6", "webp-animated",
        ]
        for (number, name) in names.enumerated() {
            let file = try EncodedPicture.named(name).file
            let before = [UInt8](repeating: 7, count: number * 1000)
            let request = request(file, side: [64, 640][number % 2], offset: Int64(before.count))
            let (answer, result) = try program.connection.request(request, of: before + file + [9, 9])
            let expected = try Thumbnail(of: file, longestSide: request.longestSide, memory: 60 << 20)
            // A comparison of two arrays in `#expect` would print them.
            let isEqual = result == expected.bytes
            #expect(isEqual, "\(name)")
            #expect(
                answer
                    == PictureAnswer(
                        .made, width: expected.width, height: expected.height, length: expected.bytes.count))
        }
        program.connection.end()
        #expect(try program.process.waitUntilExit() == 0)
    }

    @Test("refuses bad pictures and files, and continues")
    func refusals() throws {
        let program = try Running()
        let connection = program.connection
        let picture = try EncodedPicture.named("jpeg-sampling-2").file
        func outcome(_ request: PictureRequest, _ picture: [UInt8]) throws -> PictureOutcome? {
            let (answer, result) = try connection.request(request, of: picture)
            if answer?.outcome != .made { #expect(result.isEmpty) }
            return answer?.outcome
        }
        #expect(try outcome(request([1, 2, 3]), [1, 2, 3]) == .unknownFormat)
        #expect(try outcome(request([]), []) == .unknownFormat)
        let cut = [UInt8](picture.prefix(picture.count / 2))
        #expect(try outcome(request(cut), cut) == .damaged)
        let wide = PNGStart.file(width: 60_000, height: 60_000)
        #expect(try outcome(request(wide), wide) == .tooLarge)
        // Beyond the end of the file, and more than fits into the memory.
        #expect(try outcome(request(picture, offset: 1), picture) == .unreadable)
        let long = PictureRequest(longestSide: 64, offset: 0, length: 1 << 40)
        #expect(try outcome(long, picture) == .tooLarge)
        // A result that cannot be written, and a picture that is none.
        let file = try OpenFile(picture)
        let readOnly = open("/dev/null", O_RDONLY | O_CLOEXEC)
        defer { close(readOnly) }
        try connection.send(request(picture).bytes, [file.descriptor, readOnly])
        #expect(try connection.answer() == PictureAnswer(.unwritable))
        try connection.send(request(picture).bytes, [connection.descriptor, readOnly])
        #expect(try connection.answer() == PictureAnswer(.unreadable))
        #expect(try outcome(request(picture), picture) == .made)
        // It has no more than 8 descriptors at a time: each of these requests has closed its own.
        for _ in 0..<8 { #expect(try outcome(request([1]), [1]) == .unknownFormat) }
    }

    @Test("ends at a packet that is no request", arguments: [0, 1, 2, 3])
    func strangePackets(kind: Int) throws {
        let program = try Running()
        let (file, result) = (try OpenFile([]), try OpenFile([]))
        let files = [file.descriptor, result.descriptor]
        let packet = PictureRequest(longestSide: 160, offset: 0, length: 0).bytes
        switch kind {
        case 0: try program.connection.send(packet, [])
        case 1: try program.connection.send(packet, [file.descriptor])
        case 2: try program.connection.send(packet + [0], files)
        default: try program.connection.send(packet, files + files)
        }
        #expect(try program.connection.answer() == nil)
        #expect(try program.process.waitUntilExit() == 2)
    }

    @Test("ends after 30 s without a request")
    func idleness() throws {
        #expect(PictureService.standardIdleTime == 30_000)
        let connection = try PictureConnection()
        let service = PictureService(connection: connection.other, idleTime: 1, memory: 1 << 20)
        #expect(service.run() == .idle)
        connection.end()
        #expect(service.run() == .closed)
    }

    @Test("limits itself before the first request")
    func limits() throws {
        let program = try Running()
        let small = try EncodedPicture.named("jpeg-small").file
        #expect(try program.connection.request(request(small), of: small).0?.outcome == .made)
        let limits = try program.fields("limits").split(separator: "\n").map {
            $0.split(separator: " ", omittingEmptySubsequences: true).map(String.init)
        }
        func limit(_ name: [String]) -> [String]? {
            limits.first { Array($0.prefix(name.count)) == name }.map { Array($0.dropFirst(name.count).prefix(2)) }
        }
        if !Sanitizer.isActive { #expect(limit(["Max", "address", "space"]) == ["67108864", "67108864"]) }
        #expect(limit(["Max", "open", "files"]) == ["8", "8"])
        #expect(limit(["Max", "file", "size"]) == ["1048576", "1048576"])
        #expect(limit(["Max", "processes"]) == ["0", "0"])
        #expect(limit(["Max", "cpu", "time"])?.first == "6")
        let status = try program.fields("status")
        #expect(status.contains("NoNewPrivs:\t1"))
        #expect(status.contains("Seccomp:\t2"))
        let fields = try program.fields("stat").split(separator: " ")
        #expect(fields[18] == "15")
    }

    @Test("system calls that it does not need are refused")
    func sandbox() throws {
        let result = try TestProcess.run(TestProcess.path(of: "SandboxCheck"), [], environment: [:])
        #expect(result.code == 0)
        let refused = "\(EPERM)"
        var expected = [
            "filter: 1", "open: \(refused)", "socket: \(refused)", "kill: \(refused)", "duplicate: \(refused)",
            "execute: \(refused)", "fork: \(refused)", "map executable memory: \(refused)",
            "map more than the limit: \(ENOMEM)", "map memory: 0",
        ]
        if Sanitizer.isActive { expected[8] = "map more than the limit: 0" }
        #expect(result.text.split(separator: "\n").map(String.init) == expected)
    }

    @Test("a person who starts it gets a reason")
    func startedByHand() throws {
        let result = try TestProcess.run(TestProcess.path(of: "tonearm-pictures"), [])
        #expect(result.code == 2)
        #expect(result.errors == "tonearm-pictures: stdin has no request; tonearm starts this program\n")
    }
}
