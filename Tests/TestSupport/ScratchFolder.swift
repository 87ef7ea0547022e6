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

/// Damages a file: one bit of one byte. A fixed value would, in sealed content, be the one that is there already, one
/// time in 256.
/// - Parameter place: of the byte, from the size of the file.
public func flipBit(ofFile path: String, at place: (Int) -> Int) throws {
    var bytes = try Data(contentsOf: URL(fileURLWithPath: path))
    bytes[place(bytes.count)] ^= 1
    try bytes.write(to: URL(fileURLWithPath: path))
}
