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

/// Damages a file: one bit of one byte. A fixed value could be the one that is there already: in sealed content, one
/// time in 256.
/// - Parameter place: returns the offset of the byte for the size of the file.
public func flipBit(ofFile path: String, at place: (Int) -> Int) throws {
    var bytes = try Data(contentsOf: URL(fileURLWithPath: path))
    bytes[place(bytes.count)] ^= 1
    try bytes.write(to: URL(fileURLWithPath: path))
}

/// The path of the only offline copy in a storage folder: `12/12ab…`, in hexadecimal. The folder also has a file of its
/// own.
public func onlyOfflineCopy(in storageFolder: String) throws -> String {
    let copies = offlineCopies(in: storageFolder)
    guard copies.count == 1 else { throw Unexpected("not one offline copy in \(storageFolder): \(copies)") }
    return "\(storageFolder)/\(copies[0])"
}

/// The paths of the offline copies in a storage folder, from there, sorted.
public func offlineCopies(in storageFolder: String) -> [String] {
    let names = FileManager.default.enumerator(atPath: storageFolder)?.allObjects as? [String] ?? []
    return names.filter { name in
        let parts = name.split(separator: "/")
        return parts.count == 2 && parts[0].count == 2 && parts[1].hasPrefix(parts[0])
            && parts[1].allSatisfy(\.isHexDigit)
    }.sorted()
}
