import CLinux
import Foundation
import PictureRequests
import TestSupport

/// The daemon's end of the connection to tonearm-pictures.
final class PictureConnection {
    /// This end.
    let descriptor: Int32
    /// The program's end.
    private(set) var other: Int32

    init() throws {
        var ends: [Int32] = [-1, -1]
        guard socketpair(AF_UNIX, Int32(SOCK_SEQPACKET.rawValue | SOCK_CLOEXEC.rawValue), 0, &ends) == 0 else {
            throw Unexpected("socketpair: errno \(errno)")
        }
        (descriptor, other) = (ends[0], ends[1])
        limitWaits(ofSocket: descriptor)
    }

    deinit {
        close(descriptor)
        closeOther()
    }

    func closeOther() {
        if other >= 0 { close(other) }
        other = -1
    }

    /// Ends the connection from this side.
    func end() { shutdown(descriptor, Int32(SHUT_RDWR)) }

    /// Sends a packet with files.
    func send(_ packet: [UInt8], _ files: [Int32]) throws {
        // struct cmsghdr: its length in 8 bytes, SOL_SOCKET and SCM_RIGHTS; then the descriptors.
        var control = [UInt32](repeating: 0, count: 4 + (files.count + 1) / 2 * 2)
        control[0] = UInt32(16 + 4 * files.count)
        control[2] = UInt32(SOL_SOCKET)
        control[3] = 1
        for (index, file) in files.enumerated() { control[4 + index] = UInt32(bitPattern: file) }
        var packet = packet
        let sent = packet.withUnsafeMutableBytes { bytes in
            control.withUnsafeMutableBytes { control in
                var part = iovec(iov_base: bytes.baseAddress, iov_len: bytes.count)
                return withUnsafeMutablePointer(to: &part) { part in
                    var message = msghdr()
                    message.msg_iov = part
                    message.msg_iovlen = 1
                    if !files.isEmpty {
                        message.msg_control = control.baseAddress
                        message.msg_controllen = control.count
                    }
                    return sendmsg(descriptor, &message, Int32(MSG_NOSIGNAL))
                }
            }
        }
        guard sent == packet.count else { throw Unexpected("sendmsg: errno \(errno)") }
    }

    /// The next answer; nil when the connection has ended.
    func answer() throws -> PictureAnswer? {
        try waitForDescriptor(descriptor, "an answer")
        var bytes = [UInt8](repeating: 0, count: 64)
        let count = recv(descriptor, &bytes, bytes.count, 0)
        return count > 0 ? PictureAnswer(bytes: [UInt8](bytes.prefix(count))) : nil
    }

    /// Requests a thumbnail of a file's range.
    /// - Returns: the answer and the result's file.
    func request(_ request: PictureRequest, of picture: [UInt8]) throws -> (PictureAnswer?, [UInt8]) {
        let (source, result) = (try OpenFile(picture), try OpenFile([]))
        try send(request.bytes, [source.descriptor, result.descriptor])
        let answer = try answer()
        return (answer, result.bytes)
    }
}

/// An open file.
final class OpenFile {
    private let folder: ScratchFolder
    let descriptor: Int32

    init(_ bytes: [UInt8]) throws {
        folder = try ScratchFolder()
        descriptor = open(folder["file"], O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0, write(descriptor, bytes, bytes.count) == bytes.count else {
            throw Unexpected("a file: errno \(errno)")
        }
    }

    deinit { close(descriptor) }

    var bytes: [UInt8] {
        var bytes = [UInt8](repeating: 0, count: 1 << 20)
        let count = pread(descriptor, &bytes, bytes.count, 0)
        return [UInt8](bytes.prefix(max(0, count)))
    }
}
