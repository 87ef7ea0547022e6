import Platform

@testable import tonearm

/// The input of the command line: replies of a daemon, which may be another version, and the keys of a terminal.
let clientTargets = [
    FuzzTarget("status-reply") { bytes in
        guard let status = try? DaemonConnection.parse(String(decoding: bytes, as: UTF8.self)) else { return }
        for line in StatusText(status).lines {
            require(!line.utf8.contains { $0 < 0x20 || $0 == 0x7F }, "a control character in \(line)")
        }
        _ = StatusLine(NowPlaying(status: status)).text(columns: bytes.count % 200)
    },
    FuzzTarget("keys") { bytes in
        // In steps of every size; the keys are those of the whole.
        guard let size = bytes.first.map({ Int($0 % 32) + 1 }) else { return }
        var whole = KeyDecoder()
        var decoder = KeyDecoder()
        var keys: [Key] = []
        for start in stride(from: 0, to: bytes.count, by: size) {
            keys += decoder.decode(Array(bytes[start..<min(start + size, bytes.count)]))
        }
        require(keys == whole.decode(bytes), "other keys")
    },
]
