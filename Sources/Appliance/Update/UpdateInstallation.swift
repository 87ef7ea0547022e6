import CLinux
import Crypto
import Platform

/// Installs an update bundle in the slot that is not running, and makes the next start try it. Music continues to play.
///
/// Signature, board, version and all checksums are checked before the first write. The header, which makes a slot
/// bootable, is cleared first and written last.
///
/// Thread: one that may block on the medium.
public struct UpdateInstallation {
    /// The current step of an update.
    public enum Step: Equatable, Sendable {
        /// The bundle is downloaded; only for a bundle from a web server.
        case downloading
        case checking, writing, verifying

        /// The name for programs and users.
        public var name: String {
            switch self {
            case .downloading: "downloading"
            case .checking: "checking"
            case .writing: "writing"
            case .verifying: "verifying"
            }
        }
    }

    /// The most bytes that wait for the card: more would delay the music's own reads.
    private static let unsyncedLimit: Int64 = 1 << 22

    private let root: String
    private let bundlePath: String
    private let isForced: Bool
    /// Gets the step, the bytes done, and the bytes of the step.
    private let progress: (Step, Int64, Int64) -> Void
    private let isCancelled: () -> Bool

    /// - Parameters:
    ///   - bundle: a file that tools/release has made.
    ///   - isForced: whether to install a version that is older than the running one.
    ///   - root: the folder of the root file system; empty outside of tests.
    ///   - isCancelled: returns whether to end before the next bytes. After cancelling, the next start uses the running
    ///     version.
    public init(
        of bundle: String, isForced: Bool = false, root: String = "", isCancelled: @escaping () -> Bool = { false },
        progress: @escaping (Step, Int64, Int64) -> Void
    ) {
        bundlePath = bundle
        self.isForced = isForced
        self.root = root
        self.isCancelled = isCancelled
        self.progress = progress
    }

    /// - Returns: the version that the next start tries.
    public func run() throws(UpdateError) -> String { try run(holding: try Self.lock(root: root)) }

    /// - Parameter lock: the lock that `lock` returned.
    /// - Returns: the version that the next start tries.
    public func run(holding lock: borrowing LockFile) throws(UpdateError) -> String {
        let image = try ImageFiles(root: root)
        let bundle = try openBundle()
        let manifest = try readManifest(bundle, image)
        // While the running version is on trial, only the other slot is known to work.
        guard runSlots("is-good") else { throw .onTrial }
        let header = try check(bundle, manifest)
        let slot = try UpdateSlot(image.otherSlot)
        try manifest.checkFits(slot)
        try install(bundle, manifest, header, slot)
        guard runSlots("try") else { throw .notSwitched }
        return manifest.version
    }

    // MARK: Checks

    /// Takes the lock that each update holds from its download to its end.
    /// - Parameter root: the folder of the root file system; empty outside of tests.
    public static func lock(root: String = "") throws(UpdateError) -> LockFile {
        _ = try ImageFiles(root: root)
        do throws(LockFile.Refusal) {
            return try LockFile(root + "/run/tonearm-update.lock")
        } catch {
            switch error {
            case .held: throw .running
            case .system(let error): throw .unwritable(error)
            }
        }
    }

    private func openBundle() throws(UpdateError) -> File {
        do throws(SystemError) { return try File(reading: bundlePath) } catch { throw .unreadable(error) }
    }

    private func readManifest(_ bundle: borrowing File, _ image: ImageFiles) throws(UpdateError) -> UpdateManifest {
        var head = [UInt8](repeating: 0, count: UpdateManifest.firstPiece)
        guard try read(bundle, &head, at: 0) else { throw .tooShort(path: bundlePath) }
        return try UpdateManifest(authenticating: head, path: bundlePath, for: image, isForced: isForced)
    }

    /// Compares the checksums of all pieces.
    /// - Returns: the header's sector, which is written last.
    private func check(_ bundle: borrowing File, _ manifest: UpdateManifest) throws(UpdateError) -> [UInt8] {
        var header: [UInt8] = []
        var start = Int64(UpdateManifest.firstPiece)
        var meter = Meter(.checking, manifest.contentSize, isCancelled, progress)
        for piece in [manifest.root, manifest.boot] {
            var hash = try PieceHash()
            for range in Chunks(of: piece) {
                let chunk = try readPiece(bundle, range, from: start)
                if piece == manifest.boot, header.isEmpty { header = Array(chunk[..<Int(UpdateManifest.sector)]) }
                try hash.add(chunk)
                try meter.add(range)
            }
            guard try hash.finish() == piece.digest else { throw .damaged(path: bundlePath) }
            start += piece.size
        }
        return header
    }

    private func readPiece(
        _ bundle: borrowing File, _ range: Range<Int64>, from start: Int64
    ) throws(UpdateError) -> [UInt8] {
        var chunk = [UInt8](repeating: 0, count: range.count)
        guard try read(bundle, &chunk, at: start + range.lowerBound) else { throw .damaged(path: bundlePath) }
        return chunk
    }

    /// - Returns: false when the bundle is too short.
    private func read(_ bundle: borrowing File, _ bytes: inout [UInt8], at offset: Int64) throws(UpdateError) -> Bool {
        do throws(SystemError) {
            let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 1)
            defer { buffer.deallocate() }
            let count = try bundle.read(into: buffer, at: offset)
            bytes = Array(buffer)
            return count == buffer.count
        } catch {
            throw .unreadable(error)
        }
    }

    // MARK: Writes

    private func install(
        _ bundle: borrowing File, _ manifest: UpdateManifest, _ header: [UInt8], _ slot: borrowing UpdateSlot
    ) throws(UpdateError) {
        // An earlier update in the slot may wait for the next start.
        guard runSlots("stay") else { throw .notSwitched }
        try slot.write([UInt8](repeating: 0, count: header.count), at: manifest.boot.offset)
        try slot.synchronize()
        // Power loss from here on: the slot has no header, and U-Boot does not start it.
        try copy(bundle, manifest, to: slot)
        slot.forgetMemory()
        try verify(slot, manifest, header)
        try slot.write(header, at: manifest.boot.offset)
        try slot.synchronize()
        // Power loss here: the slot is complete, and the boot state still names the other one.
    }

    private func copy(
        _ bundle: borrowing File, _ manifest: UpdateManifest, to slot: borrowing UpdateSlot
    ) throws(UpdateError) {
        var unsynced: Int64 = 0
        var start = Int64(UpdateManifest.firstPiece)
        var meter = Meter(.writing, manifest.contentSize, isCancelled, progress)
        for piece in [manifest.root, manifest.boot] {
            for range in Chunks(of: piece, from: piece == manifest.boot ? UpdateManifest.sector : 0) {
                try slot.write(try readPiece(bundle, range, from: start), at: piece.offset + range.lowerBound)
                unsynced += Int64(range.count)
                if unsynced >= Self.unsyncedLimit {
                    try slot.synchronize()
                    unsynced = 0
                }
                try meter.add(range)
            }
            start += piece.size
        }
        try slot.synchronize()
    }

    /// Compares the bytes on the card with the signed checksums. The bundle may have changed since it was checked.
    private func verify(
        _ slot: borrowing UpdateSlot, _ manifest: UpdateManifest, _ header: [UInt8]
    ) throws(UpdateError) {
        var meter = Meter(.verifying, manifest.contentSize, isCancelled, progress)
        for piece in [manifest.root, manifest.boot] {
            var hash = try PieceHash()
            if piece == manifest.boot { try hash.add(header) }
            for range in Chunks(of: piece, from: piece == manifest.boot ? UpdateManifest.sector : 0) {
                try hash.add(try slot.read(count: range.count, at: piece.offset + range.lowerBound))
                try meter.add(range)
            }
            guard try hash.finish() == piece.digest else { throw .worn(path: slot.path) }
        }
    }

    /// Runs the program that owns the boot state (firmware-image/root/usr/lib/tonearm/slots).
    private func runSlots(_ word: String) -> Bool { system("'\(root)/usr/lib/tonearm/slots' \(word)") == 0 }
}

/// Counts the bytes of a step.
private struct Meter {
    private let step: UpdateInstallation.Step
    private let total: Int64
    private let isCancelled: () -> Bool
    private let report: (UpdateInstallation.Step, Int64, Int64) -> Void
    private var done: Int64 = 0

    init(
        _ step: UpdateInstallation.Step, _ total: Int64, _ isCancelled: @escaping () -> Bool,
        _ report: @escaping (UpdateInstallation.Step, Int64, Int64) -> Void
    ) {
        (self.step, self.total, self.isCancelled, self.report) = (step, total, isCancelled, report)
    }

    mutating func add(_ range: Range<Int64>) throws(UpdateError) {
        if isCancelled() { throw .cancelled }
        done += Int64(range.count)
        report(step, done, total)
    }
}
