import Foundation
import PCM
import Testing

@testable import Output

@Suite("The file plug-in gets every committed frame")
struct FilePluginTests {
    enum Ending: CaseIterable { case drain, close, drop }

    struct Way: CustomTestStringConvertible {
        var configuration: ALSAConfiguration
        var memoryMapping: Bool

        static let all = [ALSAConfiguration.system, .builtIn].flatMap { configuration in
            [true, false].map { Way(configuration: configuration, memoryMapping: $0) }
        }

        var testDescription: String {
            (configuration == .system ? "system" : "built-in") + (memoryMapping ? ", mapped" : ", written")
        }

        func open(_ request: DeviceRequest) throws(DeviceError) -> any PlaybackDevice {
            try ALSADeviceProvider(configuration: configuration, memoryMapping: memoryMapping).open(request)
        }
    }

    let folder: TemporaryFolder
    /// More than three buffers, and no multiple of anything.
    let frames = 30_011
    let oddPieces = [1, 7, 333, 2_205, 5, 8_821]

    init() throws { folder = try TemporaryFolder() }

    @Test("raw: exactly the bytes", arguments: Way.all, Ending.allCases)
    func raw(way: Way, ending: Ending) throws {
        let device = try way.open(.stereo("file:FILE=\(folder.path)/x.raw,FORMAT=raw"))
        #expect(device.configuration.memoryMapped == way.memoryMapping)
        let signal = TestSignal(frames: frames, frameBytes: 8)
        try signal.play(into: device, pieces: oddPieces)
        switch ending {
        case .drain: try device.drain()
        case .drop: try device.drop()
        case .close: device.close()
        }
        #expect(try folder.contents(of: "x.raw") == signal.bytes)
        device.close()
        device.close()
        #expect(try folder.contents(of: "x.raw") == signal.bytes)
    }

    @Test(
        "wav: a header of the right length and exactly the bytes", arguments: Way.all,
        SampleFormat.allCases.filter { $0 != .iec958Subframe })
    func wav(way: Way, sampleFormat: SampleFormat) throws {
        let device = try way.open(.stereo("file:FILE=\(folder.path)/x.wav,FORMAT=wav", sampleFormat))
        let frameBytes = 2 * sampleFormat.byteCount
        let signal = TestSignal(frames: frames, frameBytes: frameBytes)
        try signal.play(into: device, pieces: oddPieces)
        try device.drain()
        device.close()

        let file = try folder.contents(of: "x.wav")
        func number(_ offset: Int, _ count: Int) -> Int {
            file[offset..<offset + count].reversed().reduce(0) { $0 << 8 | Int($1) }
        }
        #expect(Array(file.dropFirst(44)) == signal.bytes)
        #expect(number(4, 4) == file.count - 8)
        #expect(number(22, 2) == 2)
        #expect(number(24, 4) == 44_100)
        #expect(number(32, 2) == frameBytes)
        #expect(number(34, 2) == sampleFormat.bitDepth)
        #expect(number(40, 4) == signal.bytes.count)
    }

    @Test("dropped, drained and recovered in between: still one file without a hole", arguments: Way.all)
    func interrupted(way: Way) throws {
        let device = try way.open(.stereo("file:FILE=\(folder.path)/x.raw"))
        let signals = (0..<4).map { TestSignal(frames: 9_001 + $0, frameBytes: 8) }
        try signals[0].play(into: device, pieces: oddPieces)
        try device.drop()
        try signals[1].play(into: device, pieces: oddPieces)
        #expect(device.recover(from: .underrun))
        try signals[2].play(into: device, pieces: oddPieces)
        try device.drain()
        try signals[3].play(into: device, pieces: oddPieces)
        device.close()
        #expect(try folder.contents(of: "x.raw") == signals.flatMap(\.bytes))
    }

    @Test("After a change of the format the music goes on in another file, and none is lost")
    func changes() throws {
        let provider = ALSADeviceProvider(configuration: .builtIn, memoryMapping: true)
        for device in ["file:FILE=\(folder.path)/x.raw,FORMAT=raw", "file:FILE='\(folder.path)/a.b, c',FORMAT=raw"] {
            let signals = (0..<3).map { TestSignal(frames: 9_001 + $0, frameBytes: 8) }
            for (signal, rate) in zip(signals, [44_100, 96_000, 44_100]) {
                let opened = try provider.open(.stereo(device, rate: rate))
                try signal.play(into: opened, pieces: oddPieces)
                try opened.drain()
                opened.close()
            }
            let names =
                device.contains("x.raw") ? ["x.raw", "x-2.raw", "x-3.raw"] : ["a.b, c", "a-2.b, c", "a-3.b, c"]
            for (name, signal) in zip(names, signals) { #expect(try folder.contents(of: name) == signal.bytes) }
        }
    }

    @Test(
        "Names of files after a change of the format",
        arguments: [
            ("file:FILE=x.wav,FORMAT=wav", "file:FILE=x-2.wav,FORMAT=wav"), ("file:/a.b/x,raw", "file:/a.b/x-2,raw"),
            ("file:x.raw", "file:x-2.raw"), ("file:FILE='/a, b/.x',FORMAT=raw", "file:FILE='/a, b/.x-2',FORMAT=raw"),
            ("file:FILE=%r.raw,FORMAT=raw", nil), ("file:FILE='|cat',FORMAT=raw", nil), ("hw:0", nil), ("null", nil),
            ("file:FILE=/dev/stdout,FORMAT=raw", nil), ("file:", nil), ("file:FILE=", nil),
        ] as [(String, String?)])
    func names(device: String, second: String?) {
        var files = FileSequence()
        func name(_ rate: Int) -> String {
            files.name(for: device, PCMFormat(sampleRate: rate, channelCount: 2, bitDepth: 16))
        }
        #expect([name(44_100), name(44_100)] == [device, device])
        #expect([name(96_000), name(96_000)] == [second ?? device, second ?? device])
    }

    @Test("less than a buffer, the clock never started", arguments: Way.all)
    func neverStarted(way: Way) throws {
        let device = try way.open(.stereo("file:FILE=\(folder.path)/x.raw"))
        let signal = TestSignal(frames: 101, frameBytes: 8)
        try signal.play(into: device, pieces: [10], starting: false)
        try device.drain()
        #expect(try folder.contents(of: "x.raw") == signal.bytes)
        device.close()
    }

    @Test("names with blanks, commas and equals signs are put in quotes", arguments: Way.all)
    func quoted(way: Way) throws {
        let device = try way.open(.stereo("file:FILE='\(folder.path)/Bach, BWV=988.raw',FORMAT=raw"))
        let signal = TestSignal(frames: 10, frameBytes: 8)
        try signal.play(into: device, pieces: [10])
        device.close()
        #expect(try folder.contents(of: "Bach, BWV=988.raw") == signal.bytes)
    }

    @Test("a file that cannot be made is an error at once, naming it", arguments: Way.all)
    func unwritable(way: Way) throws {
        let path = folder.path + "/no such folder/x.wav"
        let device = "file:FILE='\(path)',FORMAT=wav"
        let reason = "write \(path): No such file or directory"
        #expect(throws: DeviceError.refused(device: device, code: -ENOENT, reason: reason)) {
            try way.open(.stereo(device))
        }
    }

    @Test("a folder is no file", arguments: Way.all)
    func folderGiven(way: Way) throws {
        let device = "file:FILE='\(folder.path)',FORMAT=raw"
        #expect(
            throws: DeviceError.refused(device: device, code: -EISDIR, reason: "write \(folder.path): Is a directory")
        ) {
            try way.open(.stereo(device))
        }
    }

    @Test(
        "a file that takes no more is a fault, at the latest when all is to be heard", arguments: Way.all,
        [101, 30_011])
    func fullDisk(way: Way, frames: Int) throws {
        let device = try way.open(.stereo("file:FILE=/dev/full,FORMAT=raw"))
        #expect(throws: DeviceFault.spoiled(code: -ENOSPC)) {
            try TestSignal(frames: frames, frameBytes: 8).play(into: device, pieces: oddPieces)
            try device.drain()
        }
        device.close()
    }

    @Test("the file is the one that the place-holders name", arguments: Way.all)
    func placeholders(way: Way) throws {
        let device = try way.open(.stereo("file:FILE=\(folder.path)/%r-%c-%f.raw", rate: 96_000, .s16))
        device.close()
        #expect(try folder.contents(of: "96000-2-S16_LE.raw").isEmpty)
    }
}
