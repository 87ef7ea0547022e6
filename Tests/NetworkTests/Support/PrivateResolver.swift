import Foundation
import Network
import TestSupport

/// A name server on this machine that a test answers for, or not, and a `Network` that asks it. Needs root.
final class PrivateResolver: Sendable {
    static let isAvailable = Medium.isAvailable

    private let folder: ScratchFolder
    private let address: String
    private let descriptor: Int32

    /// - Parameter number: another one for each test: 127.53.0.number.
    init(_ number: Int) throws {
        folder = try ScratchFolder()
        address = "127.53.0.\(number)"
        descriptor = Loopback.datagrams(address, port: 53)
        limitWaits(ofSocket: descriptor)
        try Data("nameserver \(address)\noptions timeout:5 attempts:3\n".utf8)
            .write(to: URL(fileURLWithPath: folder["resolv.conf"]))
    }

    deinit { close(descriptor) }

    /// Its threads see the other resolv.conf: they are started in a mount namespace of their own.
    func network(_ settings: NetworkSettings) throws -> Network {
        let made = Locked<Result<Network, NetworkSetupError>?>(nil)
        let done = DispatchSemaphore(value: 0)
        let file = folder["resolv.conf"]
        Thread.detachNewThread {
            precondition(Self.unshareMounts() == 0, "unshare")
            precondition(mount("none", "/", nil, UInt(MS_REC | MS_PRIVATE), nil) == 0, "mount /")
            precondition(mount(file, "/etc/resolv.conf", nil, UInt(MS_BIND), nil) == 0, "mount resolv.conf")
            let result = Result { () throws(NetworkSetupError) in try Network(settings) }
            made.withLock { $0 = result }
            done.signal()
        }
        done.waitOrEndRun("a network in a namespace")
        return try made.withLock { $0! }.get()
    }

    /// unshare(2) with CLONE_NEWNS for the calling thread: glibc declares it only for GNU programs in C.
    private static func unshareMounts() -> Int32 {
        typealias Unshare = @convention(c) (Int32) -> Int32
        guard let address = dlsym(nil, "unshare") else { return -1 }
        return unsafeBitCast(address, to: Unshare.self)(0x0002_0000)
    }

    /// Waits until a name is asked for.
    func waitForQuestion() -> [UInt8] { next().question }

    /// How many questions have come that were not waited for.
    func unreadQuestionCount() -> Int {
        var bytes = [UInt8](repeating: 0, count: 512)
        var count = 0
        while recv(descriptor, &bytes, bytes.count, Int32(MSG_DONTWAIT)) > 0 { count += 1 }
        return count
    }

    /// Answers questions until `count` of them were answered: there is no such name.
    func denyNames(_ count: Int) {
        for _ in 0..<count {
            var (question, from) = next()
            guard question.count > 3 else { return }
            question[2] = 0x81
            question[3] = 0x83
            withUnsafePointer(to: &from) { pointer in
                _ = pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    sendto(descriptor, question, question.count, 0, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
                }
            }
        }
    }

    private func next() -> (question: [UInt8], from: sockaddr_in) {
        var bytes = [UInt8](repeating: 0, count: 512)
        var from = sockaddr_in()
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let count = withUnsafeMutablePointer(to: &from) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                recvfrom(descriptor, &bytes, bytes.count, 0, $0, &length)
            }
        }
        return (Array(bytes.prefix(max(count, 0))), from)
    }
}
