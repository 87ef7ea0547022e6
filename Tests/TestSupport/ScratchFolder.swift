import Foundation

/// A folder for one test; removed with this object.
public final class ScratchFolder: Sendable {
    public let path: String

    public init() throws {
        path = FileManager.default.temporaryDirectory.path + "/tonearm-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    /// The path of `name` in this folder.
    public subscript(_ name: String) -> String { "\(path)/\(name)" }
}
