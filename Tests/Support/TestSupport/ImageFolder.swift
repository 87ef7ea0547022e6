import Foundation

/// The files of a firmware image below a folder: a slot, its key and version, and a program for the boot state that
/// writes down its arguments. `Fixtures/Update` holds a bundle that is signed with firmware-image/test-key.pem.
public final class ImageFolder {
    public static let headerPlace = 40 << 20

    public let bundle: [UInt8]
    private let folder: ScratchFolder

    public init() throws {
        folder = try ScratchFolder()
        bundle = try Self.fixture("bundle")
        for name in ["etc/tonearm", "run", "usr/lib/tonearm", "data/system"] {
            try FileManager.default.createDirectory(atPath: path(name), withIntermediateDirectories: true)
        }
        try write("board=virtual\nversion=0.1.0\n", to: "etc/tonearm-release")
        try write("disk=/dev/null\nslot=a\nother=\(slotPath)\n", to: "run/disk")
        try Data(Self.fixture("key")).write(to: URL(fileURLWithPath: path("etc/tonearm/update-key")))
        try Data(bundle).write(to: URL(fileURLWithPath: path("bundle")))
        try Data().write(to: URL(fileURLWithPath: slotPath))
        truncate(slotPath, 64 << 20)
        // A link: a program that this process has just written may be busy, because other tests start programs too.
        try FileManager.default.createSymbolicLink(
            atPath: path("usr/lib/tonearm/slots"), withDestinationPath: Self.fixturePath("slots"))
        try writeSlots("true")
    }

    public static func fixture(_ name: String) throws -> [UInt8] {
        Array(try Data(contentsOf: URL(fileURLWithPath: fixturePath(name))))
    }

    private static func fixturePath(_ name: String) -> String {
        let tests = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        return tests.appendingPathComponent("Fixtures/Update/\(name)").path
    }

    public func path(_ name: String) -> String { folder[name] }
    /// The folder itself.
    public var folderPath: String { folder.path }
    public var slotPath: String { path("slot") }

    /// The parts of the bundle, by its manifest: 1024 bytes are before them.
    public var root: [UInt8] { Array(bundle[1024..<(bundle.count - 1536)]) }
    public var boot: [UInt8] { Array(bundle[(bundle.count - 1536)...]) }

    public func write(_ text: String, to name: String) throws {
        try Data(text.utf8).write(to: URL(fileURLWithPath: path(name)))
    }

    /// Has the program for the boot state succeed when this shell command does.
    public func writeSlots(_ condition: String) throws { try write(condition + "\n", to: "answer") }

    /// The arguments of each call of the program for the boot state.
    public var slotsCalls: [String] {
        let text = (try? String(contentsOfFile: path("calls"), encoding: .utf8)) ?? ""
        return text.split(separator: "\n").map(String.init)
    }

    public func slot(_ place: Int, count: Int) throws -> [UInt8] {
        let file = try FileHandle(forReadingFrom: URL(fileURLWithPath: slotPath))
        try file.seek(toOffset: UInt64(place))
        return Array(try file.read(upToCount: count) ?? Data())
    }

    public var isSlotWritten: Bool {
        var status = stat()
        stat(slotPath, &status)
        return status.st_blocks != 0
    }

    /// Has every write to the slot fail with ENOSPC.
    public func replaceSlotByFull() throws {
        try FileManager.default.removeItem(atPath: slotPath)
        try FileManager.default.createSymbolicLink(atPath: slotPath, withDestinationPath: "/dev/full")
    }
}
