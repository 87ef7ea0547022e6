import HTTPServer
import Platform

@testable import Appliance
@testable import Control
@testable import MPD

/// Requests from clients and files from users.
let applianceTargets = [
    FuzzTarget("request") { bytes in
        let line = RequestLine(.whole(bytes))
        if case .failure(let error) = line.request { _ = error.description }
    },
    FuzzTarget("lines") { bytes in
        // In steps of every size; the lines are those of the whole.
        guard let size = bytes.first.map({ Int($0 % 32) + 1 }) else { return }
        require(lines(of: bytes, inPiecesOf: size) == lines(of: bytes, inPiecesOf: bytes.count), "other lines")
    },
    FuzzTarget("configuration") { bytes in
        guard let configuration = try? Configuration(parsing: bytes, file: "tonearm.conf") else { return }
        // The printed configuration can be read again, and is the same.
        let again = try? Configuration(parsing: Array(configuration.shown.utf8), file: "tonearm.conf")
        for name in SettingName.allCases {
            let written = configuration.written(name)
            require(again?.written(name).utf8.elementsEqual(written.utf8) == true, "\(name.path) = \(written)")
        }
    },
    FuzzTarget("setting") { bytes in
        let words = pieces(of: bytes)
        guard let name = try? SettingName(path: words[0]), words.count > 1 else { return }
        _ = try? Configuration.checked(words[1], for: name)
    },
    FuzzTarget("update-manifest") { bytes in
        guard let manifest = UpdateManifest(parsing: bytes[...]) else { return }
        for piece in [manifest.root, manifest.boot] {
            require(piece.place >= 0 && piece.size > 0, "an empty piece")
            require(piece.place + piece.size <= UpdateManifest.slotSize, "a piece behind the slot")
        }
        require(manifest.root.size <= manifest.boot.place, "pieces that overlap")
    },
    FuzzTarget("resuming") { bytes in
        guard let trial = ResumeTrial(bytes) else { return }
        require(ResumeTrial(Array(trial.text.utf8)) == trial, "\(trial) is not stored as it is")
        if let entry = trial.entry { _ = ResumeTrial.decide(entry, after: trial) }
    },
    FuzzTarget("group") { bytes in _ = UserGroup.id(named: "tonearm", in: bytes) },
    FuzzTarget("mpd-line") { bytes in
        guard let command = try? MPDArguments(line: bytes), !bytes.contains(0) else { return }
        // Arguments in quotation marks are the same. Bytes that are no UTF-8 have become other ones.
        var line = Array(command.name.utf8)
        for value in command.values {
            line += Array(" \"".utf8)
            for byte in value.utf8 {
                if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") { line.append(UInt8(ascii: "\\")) }
                line.append(byte)
            }
            line.append(UInt8(ascii: "\""))
        }
        let again = try? MPDArguments(line: line)
        require(again?.values.elementsEqual(command.values) { $0.utf8.elementsEqual($1.utf8) } == true, "\(line)")
    },
    FuzzTarget("web-request") { bytes in
        // The name in the first line, and then the body.
        let parts = bytes.split(separator: UInt8(ascii: "\n"), maxSplits: 1, omittingEmptySubsequences: false)
        let name = String(decoding: parts[0], as: UTF8.self)
        let body = parts.count > 1 ? Array(parts[1]) : []
        guard let request = try? WebRequest(name, body: body, in: MusicFolders(paths: ["/music"])) else { return }
        let line = RequestLine(.whole(Array(request.line.serialized().utf8)))
        guard case .success(.music(let paths, _)) = line.request else { return }
        for path in paths where path.utf8.first == UInt8(ascii: "/") {
            require(path.utf8.starts(with: "/music".utf8), "\(path) is outside of the folders")
        }
    },
    FuzzTarget("web-guard") { bytes in
        // The host, the origin, the type of the body and the token.
        let words = pieces(of: bytes)
        var headers: [String: String] = [:]
        let names = ["host", "origin", "content-type", WebGuard.tokenHeader]
        for (name, word) in zip(names, words) { headers[name] = word }
        let guardian = WebGuard(names: ["own.example"], acceptsAll: false, token: "secret")
        let request = HTTPRequest(method: "POST", path: "/api/play", headers: headers)
        guard guardian.refusal(of: request, isPrivate: true) == nil else { return }
        // A request of a browser that is taken has the token, and a host that no foreign site has.
        if headers["origin"] != nil {
            require(headers[WebGuard.tokenHeader]?.utf8.elementsEqual("secret".utf8) == true, "no token")
        }
        require(!WebGuard.lowercased(headers["host"] ?? "").utf8.elementsEqual("evil.example".utf8), "a foreign host")
    },
    FuzzTarget("mpd-filter") { bytes in
        // The arguments, one a line.
        let arguments = bytes.split(separator: 0x0A).map { String(decoding: $0, as: UTF8.self) }
        for isSearch in [false, true] {
            guard let selection = try? MPDSelection(parsing: arguments, isSearch: isSearch) else { continue }
            let song = MPDSong(uri: "Folder/song.flac")
            let inverted = MPDFilter.not(selection.filter)
            require(song.matches(selection.filter) != song.matches(inverted), "neither a match nor none")
        }
    },
]

private func lines(of bytes: [UInt8], inPiecesOf size: Int) -> [LineSplitter.Line] {
    var splitter = LineSplitter(limit: 40)
    var lines: [LineSplitter.Line] = []
    for start in stride(from: 0, to: bytes.count, by: size) {
        Array(bytes[start..<min(start + size, bytes.count)]).withUnsafeBytes { splitter.append($0) }
        while let line = splitter.next() { lines.append(line) }
    }
    while let line = splitter.finish() { lines.append(line) }
    return lines
}
