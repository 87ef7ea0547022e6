import Foundation
import Glibc
import Platform

/// ffmpeg, which encodes a file as AAC and writes an ADTS stream.
///
/// Thread: the caller's. `run` blocks until the program has ended.
struct EncoderProcess {
    private let program: String
    private let arguments: [String]

    /// - Parameters:
    ///   - program: the path of ffmpeg.
    ///   - bitRate: the bit rate in bits per second.
    init(_ program: String, bitRate: Int, sampleRate: Int) {
        self.program = program
        // Pass no file names, which may have any form. Linux opens the file again by the name /dev/stdin; in a pipe
        // ffmpeg could not seek to the tables of MP4.
        arguments = [
            "-nostdin", "-v", "error", "-y", "-i", "/dev/stdin", "-map", "0:a:0", "-c:a", "aac", "-b:a", "\(bitRate)",
            "-ar", "\(sampleRate)", "-f", "adts", "/dev/stdout",
        ]
    }

    /// - Parameters:
    ///   - music: the descriptor of the file.
    ///   - limit: the time limit in seconds, after which the program is killed.
    ///   - starting: allows one start at a time: a program that starts meanwhile would inherit the pipes of this one,
    ///     and hold them open.
    ///   - take: called with the output, as it arrives. Returning false ends the program.
    func run(
        from music: Int32, limit: Int64, clock: any MonotonicClock, starting: Lock,
        take: (UnsafeRawBufferPointer) -> Bool
    ) throws(TrackEncoding.Failure) {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: program)
        process.arguments = arguments
        process.standardInput = FileHandle(fileDescriptor: music, closeOnDealloc: false)
        let output: Pipe, errors: Pipe
        do {
            (output, errors) = try starting.withLock {
                let (output, errors) = (Pipe(), Pipe())
                (process.standardOutput, process.standardError) = (output, errors)
                try process.run()
                return (output, errors)
            }
        } catch {
            throw TrackEncoding.Failure(description: "\(program) does not start: \(error)")
        }
        var pipes = EncoderPipes(
            output: output.fileHandleForReading.fileDescriptor, errors: errors.fileHandleForReading.fileDescriptor)
        let isWhole = pipes.read(until: clock.now() + limit * 1_000_000_000, clock, take)
        if !isWhole { kill(process.processIdentifier, SIGKILL) }
        process.waitUntilExit()
        guard isWhole, process.terminationStatus == 0 else {
            throw TrackEncoding.Failure(description: "ffmpeg: \(isWhole ? pipes.text : "is ended")")
        }
    }
}

/// The two pipes of a program: one for its output and one for its messages.
private struct EncoderPipes {
    private static let mostWords = 300

    let output: Int32
    let errors: Int32
    private var words: [UInt8] = []

    init(output: Int32, errors: Int32) { (self.output, self.errors) = (output, errors) }

    var text: String { String(decoding: words.prefix(Self.mostWords), as: UTF8.self) }

    /// Reads until both have ended.
    /// - Returns: false when the time has passed, or `take` has returned false.
    mutating func read(
        until deadline: Int64, _ clock: any MonotonicClock, _ take: (UnsafeRawBufferPointer) -> Bool
    ) -> Bool {
        var waited = [output, errors].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 65_536, alignment: 16)
        defer { buffer.deallocate() }
        while waited.contains(where: { $0.fd >= 0 }) {
            let left = (max(deadline - clock.now(), 0) + 999_999) / 1_000_000
            let count = poll(&waited, nfds_t(waited.count), Int32(clamping: left))
            if count < 0, errno == EINTR { continue }
            if count == 0, clock.now() < deadline { continue }
            if count <= 0 { return false }
            for index in waited.indices where waited[index].fd >= 0 && waited[index].revents != 0 {
                let taken = Glibc.read(waited[index].fd, buffer.baseAddress, buffer.count)
                if taken < 0, errno == EINTR { continue }
                if taken <= 0 {
                    // poll(2) ignores a negative descriptor.
                    waited[index].fd = -1
                    continue
                }
                let bytes = UnsafeRawBufferPointer(rebasing: buffer[..<taken])
                if index == 0 {
                    if !take(bytes) { return false }
                } else if words.count < Self.mostWords {
                    // The rest is read and dropped, so that the program does not block.
                    words += bytes
                }
            }
        }
        return true
    }
}
