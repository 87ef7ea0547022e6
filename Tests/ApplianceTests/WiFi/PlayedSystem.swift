import Foundation
import Platform
import TestSupport

/// The system's part of Wi-Fi, as a test plays it: with the files that an image has.
final class PlayedSystem {
    let folder: ScratchFolder

    init() throws { folder = try ScratchFolder() }

    /// The section of the configuration.
    var settings: String { "[network]\nwifi-folder = \(folder.path)" }

    /// Writes a file as a whole, as a reader finds it.
    func write(_ name: String, _ text: String) throws {
        try FileReplacement.write(Array(text.utf8), to: folder[name])
    }

    /// The request that waits; nil when there is none.
    var wanted: String? { try? String(contentsOfFile: folder["wanted"], encoding: .utf8) }

    /// Takes the request, without a report yet.
    func take() throws {
        try FileManager.default.moveItem(atPath: folder["wanted"], toPath: folder["begun"])
    }
}
