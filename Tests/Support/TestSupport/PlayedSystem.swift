import Foundation
import Platform

/// The system's part of a folder between it and the daemon, as a test plays it: with the files that an image has.
public final class PlayedSystem {
    public let folder: ScratchFolder
    /// Beside the folder, like the image's scripts: the daemon removes temporary files in the folder when it begins.
    private let unfinished: ScratchFolder

    public init() throws {
        folder = try ScratchFolder()
        unfinished = try ScratchFolder()
    }

    /// The section of the configuration, for Wi-Fi.
    public var settings: String { "[network]\nwifi-folder = \(folder.path)" }
    /// The section of the configuration, for updates.
    public var updateSettings: String { "[update]\nfolder = \(folder.path)" }

    /// Writes a file as a whole, as a reader finds it.
    public func write(_ name: String, _ text: String) throws {
        try Data(text.utf8).write(to: URL(fileURLWithPath: unfinished[name]))
        try Folder.renameFile(unfinished[name], to: folder[name])
    }

    /// The request that waits; nil when there is none.
    public var wanted: String? { try? String(contentsOfFile: folder["wanted"], encoding: .utf8) }

    /// Takes the request, without a report yet.
    public func take() throws {
        try Folder.renameFile(folder["wanted"], to: folder["begun"])
    }

    /// Waits for a request and takes it.
    /// - Returns: its text.
    public func takeNext() throws -> String {
        try waitUntil("a request to the system") { wanted != nil }
        let text = wanted ?? ""
        try take()
        return text
    }
}
