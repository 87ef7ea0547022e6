import PictureRequests
import Pictures

import CLinux

/// Answers requests for thumbnails, one at a time.
public struct PictureService {
    /// Why it ended.
    public enum End: Equatable, Sendable {
        case closed
        case idle
        /// A packet that is no request, or a socket that is none.
        case refused
    }

    /// Milliseconds without a request after which tonearm-pictures ends.
    public static let standardIdleTime: Int32 = 30_000
    /// The most bytes of a picture's file.
    static let largestFile: Int64 = 32 << 20

    private let connection: Int32
    private let idleTime: Int32
    private let memory: Int

    /// - Parameters:
    ///   - connection: a UNIX socket of packets.
    ///   - idleTime: milliseconds without a request after which it ends.
    ///   - memory: bytes for a request.
    public init(connection: Int32, idleTime: Int32 = standardIdleTime, memory: Int) {
        self.connection = connection
        self.idleTime = idleTime
        self.memory = memory
    }

    public func run() -> End {
        while true {
            var waited = pollfd(fd: connection, events: Int16(POLLIN), revents: 0)
            let ready = poll(&waited, 1, idleTime)
            if ready == 0 { return .idle }
            if ready < 0, tonearm_errno() == EINTR { continue }
            if let end = serve() { return end }
        }
    }

    /// Receives one request and answers it.
    private func serve() -> End? {
        // A longer packet is cut, and refused.
        var bytes = [UInt8](repeating: 0, count: PictureRequest.byteCount)
        var files: [Int32] = [-1, -1]
        let count = tonearm_receive_with_files(connection, &bytes, bytes.count, &files)
        defer { for file in files where file >= 0 { close(file) } }
        guard count > 0 else { return count == 0 || tonearm_errno() == ECONNRESET ? .closed : .refused }
        guard let request = PictureRequest(bytes: [UInt8](bytes.prefix(count))), files[1] >= 0,
            Sandbox.renewProcessorTime()
        else { return .refused }
        let answer = answer(to: request, picture: files[0], result: files[1]).bytes
        return write(connection, answer, answer.count) == answer.count ? nil : .closed
    }

    func answer(to request: PictureRequest, picture: Int32, result: Int32) -> PictureAnswer {
        guard request.length <= min(Self.largestFile, Int64(memory)) else { return PictureAnswer(.tooLarge) }
        guard let file = load(request, from: picture) else { return PictureAnswer(.unreadable) }
        do throws(PictureError) {
            let thumbnail = try Thumbnail(
                of: file, longestSide: request.longestSide, memory: memory - file.count)
            guard store(thumbnail.bytes, in: result) else { return PictureAnswer(.unwritable) }
            return PictureAnswer(
                .made, width: thumbnail.width, height: thumbnail.height, length: thumbnail.bytes.count)
        } catch {
            return PictureAnswer(error.outcome)
        }
    }

    /// The bytes of a picture; nil when they could not be read, or the file ends before.
    private func load(_ request: PictureRequest, from descriptor: Int32) -> [UInt8]? {
        let size = Int(request.length)
        let file = [UInt8](unsafeUninitializedCapacity: size) { buffer, count in
            while count < size, let start = buffer.baseAddress {
                let part = tonearm_pread(descriptor, start + count, size - count, request.offset + Int64(count))
                if part < 0, tonearm_errno() == EINTR { continue }
                if part <= 0 { break }
                count += part
            }
        }
        return file.count == size ? file : nil
    }

    private func store(_ bytes: [UInt8], in descriptor: Int32) -> Bool {
        bytes.withUnsafeBufferPointer { bytes in
            var count = 0
            while count < bytes.count, let start = bytes.baseAddress {
                let part = tonearm_pwrite(descriptor, start + count, bytes.count - count, Int64(count))
                if part < 0, tonearm_errno() == EINTR { continue }
                if part <= 0 { return false }
                count += part
            }
            return true
        }
    }
}

extension PictureError {
    var outcome: PictureOutcome {
        switch self {
        case .unknownFormat: .unknownFormat
        case .damaged: .damaged
        case .tooLarge: .tooLarge
        }
    }
}
