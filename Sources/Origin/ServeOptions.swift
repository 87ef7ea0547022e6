import Foundation
import OriginService
import Platform

/// The options of `serve`.
struct ServeOptions: Equatable {
    var folder = ""
    var address = "127.0.0.1"
    var port = 7470
    var certificate: String?
    var key: String?
    var stateFolder = ""
    var settings = OriginSettings()
    var faults = FaultPlan()
    /// The program: a name to find in the folders of `PATH`, a path, or `none`.
    private var ffmpeg = "ffmpeg"

    init(_ words: [String], _ environment: [String: String]) throws(OriginArguments.Mistake) {
        var rest = words[...]
        while let word = rest.popFirst() {
            if !word.hasPrefix("--") {
                guard folder.isEmpty else { throw Self.mistake("more than one folder: \(word)") }
                folder = word
                continue
            }
            if word == "--require-login" {
                settings.requiresLogin = true
                continue
            }
            guard Self.names.contains(word) else { throw Self.mistake("unknown option \(word)") }
            guard let value = rest.popFirst() else { throw Self.mistake("\(word) needs a value") }
            try set(word, value)
        }
        guard !folder.isEmpty else { throw Self.mistake("serve needs a folder") }
        guard (certificate == nil) == (key == nil) else {
            throw Self.mistake("--tls-certificate and --tls-key belong together")
        }
        guard settings.offlineRevalidation <= settings.offlineValidity else {
            throw Self.mistake("--offline-valid must not be less than --offline-revalidate")
        }
        if ffmpeg != "none" { settings.encoder = Self.program(ffmpeg, environment) }
        if stateFolder.isEmpty { stateFolder = try Self.stateFolder(environment) }
    }

    private static let tenYears: Int64 = 315_360_000

    private static let names = [
        "--address", "--port", "--tls-certificate", "--tls-key", "--token", "--token-file", "--password-file",
        "--manifest", "--encrypt", "--ffmpeg", "--encoded-limit",
        "--url-lifetime", "--offline-revalidate", "--offline-valid", "--public-url", "--sessions", "--faults",
        "--state",
    ]

    private mutating func set(_ name: String, _ value: String) throws(OriginArguments.Mistake) {
        switch name {
        case "--address": address = value
        case "--port": port = Int(try Self.number(name, value, 0...65_535))
        case "--tls-certificate": certificate = value
        case "--tls-key": key = value
        case "--token": settings.token = value
        case "--token-file": settings.token = try Self.firstLine(of: value)
        case "--password-file":
            settings.ownersPassword = try Self.firstLine(of: value)
            settings.requiresLogin = true
        case "--manifest":
            guard let kind = OriginSettings.ManifestKind(rawValue: value) else {
                throw Self.mistake("--manifest is bts, dash, hls or emu, not \(value)")
            }
            settings.manifest = kind
        case "--encrypt":
            guard value == "cbcs" else { throw Self.mistake("--encrypt is cbcs, not \(value)") }
            settings.isEncrypted = true
        case "--ffmpeg": ffmpeg = value
        case "--encoded-limit": settings.encodedLimit = try Self.number(name, value, 0...(1 << 20)) << 20
        case "--url-lifetime": settings.addressLifetime = try Self.number(name, value, 1...31_536_000)
        case "--offline-revalidate":
            settings.offlineRevalidation = try Self.number(name, value, 1...Self.tenYears)
        case "--offline-valid": settings.offlineValidity = try Self.number(name, value, 1...Self.tenYears)
        case "--public-url": settings.publicAddress = try Self.address(value)
        case "--sessions": settings.sessions = Int(try Self.number(name, value, 1...1000))
        case "--faults": faults = try Self.faults(value)
        default: stateFolder = value
        }
    }

    /// Whether other machines reach the page of logins without TLS.
    var sendsPasswordsInTheClear: Bool {
        settings.ownersPassword != nil && certificate == nil && address != "127.0.0.1" && address != "::1"
            && settings.publicAddress?.hasPrefix("https://") != true
    }

    /// Checks a base address that is allowed in manifests of all kinds.
    private static func address(_ text: String) throws(OriginArguments.Mistake) -> String {
        let rest = ["http://", "https://"].compactMap { text.hasPrefix($0) ? text.dropFirst($0.count) : nil }.first
        let allowed = Set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~:/[]@!()*+,;=%")
        guard let rest, let first = rest.first, first != "/", rest.allSatisfy({ allowed.contains($0) }) else {
            throw mistake(
                "--public-url is an address such as https://nas.example/music, without ? and #, and with other "
                    + "characters than letters and digits as %XX; not \(text)")
        }
        return text.hasSuffix("/") ? String(text.dropLast()) : text
    }

    private static func mistake(_ text: String) -> OriginArguments.Mistake { .init(description: text) }

    private static func number(
        _ name: String, _ text: String, _ range: ClosedRange<Int64>
    ) throws(OriginArguments.Mistake) -> Int64 {
        guard let number = Int64(text), range.contains(number) else {
            throw mistake("\(name) is a number from \(range.lowerBound) to \(range.upperBound), not \(text)")
        }
        return number
    }

    /// Returns nil when it is not found.
    private static func program(_ name: String, _ environment: [String: String]) -> String? {
        if name.contains("/") { return name }
        return (environment["PATH"] ?? "").split(separator: ":").map { "\($0)/\(name)" }
            .first { FileManager.default.isExecutableFile(atPath: $0) }
    }

    private static func firstLine(of file: String) throws(OriginArguments.Mistake) -> String {
        let bytes: [UInt8]
        do throws(SystemError) { bytes = try File.contents(of: file, limit: 65_536) } catch {
            throw mistake(error.description)
        }
        guard let line = String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isNewline).first else {
            throw mistake("\(file) is empty")
        }
        return String(line)
    }

    private static func faults(_ file: String) throws(OriginArguments.Mistake) -> FaultPlan {
        let bytes: [UInt8]
        do throws(SystemError) { bytes = try File.contents(of: file, limit: 1 << 20) } catch {
            throw mistake(error.description)
        }
        do throws(FaultPlan.Mistakes) { return try FaultPlan(parsing: bytes) } catch {
            let lines = error.problems.map { "\(file):\($0.line): \($0.message)" }
            throw mistake(lines.joined(separator: "\n"))
        }
    }

    /// Returns the folder by the XDG base directory specification.
    static func stateFolder(_ environment: [String: String]) throws(OriginArguments.Mistake) -> String {
        if let folder = environment["XDG_STATE_HOME"], folder.hasPrefix("/") { return folder + "/tonearm-origin" }
        guard let home = environment["HOME"], home.hasPrefix("/") else {
            throw mistake("no $HOME: say with --state where the index is kept")
        }
        return home + "/.local/state/tonearm-origin"
    }
}
