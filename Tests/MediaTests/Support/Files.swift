import Foundation

/// Files of a test's folder.
enum Files {
    static func write(_ bytes: [UInt8], _ name: String, _ folder: URL) throws {
        try Data(bytes).write(to: folder.appendingPathComponent(name))
    }

    static func read(_ name: String, _ folder: URL) throws -> [UInt8] {
        Array(try Data(contentsOf: folder.appendingPathComponent(name)))
    }
}
