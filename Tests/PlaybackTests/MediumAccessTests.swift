import Media
import Platform
import PlayerTestSupport
import TestSupport
import Testing

@testable import Playback
@testable import Player

@Suite("When a decoder waits for its medium (docs/playback.md, 6)")
struct MediumAccessTests {
    private let medium = MediumAccess()

    @Test(
        "A wait is the call that reads the medium, whether it succeeds or fails", arguments: [ByteRead.end, .bytes(1)])
    func read(answer: ByteRead) throws {
        let bytes = ScriptedBytes(medium, answers: [.success(answer), .failure(.network(reason: "gone"))])
        let source = MediumByteSource(bytes, medium)
        #expect(!medium.isWaiting)
        #expect(try read(source) == answer)
        #expect(!medium.isWaiting)
        #expect(throws: ByteSourceError.network(reason: "gone")) { try read(source) }
        #expect(!medium.isWaiting)
        #expect(bytes.waits == [true, true])
    }

    @Test("Where bytes are not there yet, it lasts until they have arrived")
    func notYet() throws {
        let bytes = ScriptedBytes(medium, answers: [.success(.notYet), .success(.bytes(1))])
        let source = MediumByteSource(bytes, medium)
        #expect(try read(source) == .notYet)
        #expect(medium.isWaiting)
        let calls = Recorder<Void>()
        source.whenReadable { calls.record(()) }
        #expect(medium.isWaiting)
        bytes.arrive()
        #expect(calls.elements.count == 1)
        #expect(!medium.isWaiting)
        #expect(try read(source) == .bytes(1))
        #expect(!medium.isWaiting)
    }

    @Test("The arrival of bytes that nobody waits for any more does not end a later wait")
    func lateArrival() throws {
        let bytes = ScriptedBytes(medium, answers: [.success(.notYet), .success(.notYet)])
        let source = MediumByteSource(bytes, medium)
        #expect(try read(source) == .notYet)
        source.whenReadable {}
        let first = bytes.wake
        #expect(try read(source) == .notYet)
        first?()
        #expect(medium.isWaiting)
        source.whenReadable {}
        bytes.arrive()
        #expect(!medium.isWaiting)
    }

    @Test("A local file: a wait while it is opened and read, and none while it is decoded")
    func localFile() throws {
        let track = try Track("a", frames: 20_000)
        let waits = Recorder<Bool>()
        let files = LocalFiles { [medium] path, cancellation throws(SystemError) in
            waits.record(medium.isWaiting)
            return ObservedFile(try FileByteSource(path: path, cancellation: cancellation), medium, waits)
        }
        let decoder = try files.open(
            track.product, session: PlaybackSession(), cancellation: try Cancellation(), medium: medium
        ).decoder
        #expect(!medium.isWaiting)
        let buffer = UnsafeMutableBufferPointer<Int32>.allocate(capacity: 4096)
        defer { buffer.deallocate() }
        while try decoder.read(into: buffer) != .end { #expect(!medium.isWaiting) }
        #expect(waits.elements.count > 2)
        #expect(waits.elements.allSatisfy { $0 })
    }

    private func read(_ source: MediumByteSource) throws -> ByteRead {
        var byte: UInt8 = 0
        return try withUnsafeMutableBytes(of: &byte) { buffer throws(ByteSourceError) in
            try source.read(into: buffer, at: 0)
        }
    }
}

/// A source that answers as a test wants, and records whether each of its reads counts as a wait.
private final class ScriptedBytes: ByteSource {
    let length: Int64? = nil
    private let medium: MediumAccess
    private var answers: [Result<ByteRead, ByteSourceError>]
    private(set) var waits: [Bool] = []
    private(set) var wake: (@Sendable () -> Void)?

    init(_ medium: MediumAccess, answers: [Result<ByteRead, ByteSourceError>]) {
        self.medium = medium
        self.answers = answers
    }

    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(ByteSourceError) -> ByteRead {
        waits.append(medium.isWaiting)
        return try answers.removeFirst().get()
    }

    func whenReadable(_ wake: @escaping @Sendable () -> Void) { self.wake = wake }

    func arrive() { wake?() }
}

/// A file that notes whether each of its reads is a wait.
private final class ObservedFile: ByteSource {
    private let file: FileByteSource
    private let medium: MediumAccess
    private let waits: Recorder<Bool>

    init(_ file: FileByteSource, _ medium: MediumAccess, _ waits: Recorder<Bool>) {
        self.file = file
        self.medium = medium
        self.waits = waits
    }

    var length: Int64? { file.length }

    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(ByteSourceError) -> ByteRead {
        waits.record(medium.isWaiting)
        return try file.read(into: buffer, at: offset)
    }
}
