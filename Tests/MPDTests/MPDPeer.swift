import ApplianceTestSupport
import Foundation
import TestSupport
import Testing

@testable import MPD

/// An MPD of Debian in a scratch folder: the foreign end of the differential tests.
final class MPDPeer {
    static let isInstalled = ConditionTrait.enabled(
        if: FileManager.default.isExecutableFile(atPath: path), "needs `mpd`: apt-get install mpd")

    private static let path = "/usr/bin/mpd"

    private let scratch: ScratchFolder
    private let process: TestProcess
    private let descriptor: Int32
    let socketPath: String
    private var received: [UInt8] = []

    /// Starts MPD with a music folder, and waits until it has read the folder.
    init(music: String) throws {
        scratch = try ScratchFolder()
        socketPath = scratch["socket"]
        let configuration = """
            music_directory "\(music)"
            db_file "\(scratch["db"])"
            playlist_directory "\(scratch.path)"
            bind_to_address "\(socketPath)"
            auto_update "no"
            audio_output {
                type "null"
                name "null"
            }
            """
        try Data(configuration.utf8).write(to: URL(fileURLWithPath: scratch["conf"]))
        process = try TestProcess(Self.path, ["--no-daemon", "--stderr", scratch["conf"]], output: .null)
        let socket = Foundation.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        descriptor = socket
        limitWaits(ofSocket: socket)
        try waitUntil("MPD's socket") { Self.connect(socket, socketPath) }
        _ = try line()
        _ = try ask("update")
        // The end of the update may come before or after `idle`.
        while try ask("status").contains(where: { $0.hasPrefix("updating_db") }) { _ = try ask("idle update") }
    }

    deinit { close(descriptor) }

    private static func connect(_ socket: Int32, _ path: String) -> Bool {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8.prefix($0.count - 1)) }
        return withUnsafePointer(to: &address) { address in
            address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Foundation.connect(socket, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0
            }
        }
    }

    /// Returns the lines of an answer, with the last one.
    func ask(_ command: String) throws -> [String] {
        let bytes = Array((command + "\n").utf8)
        guard send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count else {
            throw Unexpected("MPD does not take \(command)")
        }
        var lines: [String] = []
        repeat { lines.append(try line()) } while lines.last != "OK" && lines.last?.hasPrefix("ACK ") == false
        return lines
    }

    private func line() throws -> String {
        while true {
            if let end = received.firstIndex(of: 0x0A) {
                let line = String(decoding: received[..<end], as: UTF8.self)
                received.removeSubrange(...end)
                return line
            }
            var chunk = [UInt8](repeating: 0, count: 65_536)
            let count = recv(descriptor, &chunk, chunk.count, 0)
            guard count > 0 else { throw Unexpected("MPD is gone: errno \(errno)") }
            received += chunk[..<count]
        }
    }
}
