import ApplianceTestSupport
import Foundation
import Platform
import TestSupport
import Testing

@testable import Appliance

@Suite("Updates of the firmware image (docs/decisions/firmware-image.md)")
struct UpdateInstallationTests {
    private let image: ImageFolder

    init() throws { image = try ImageFolder() }

    @Test("a signed bundle fills the slot that does not run, and the next start tries it")
    func installed() throws {
        #expect(try image.install() == "0.9.10")
        #expect(try image.slot(0, count: image.root.count) == image.root)
        #expect(try image.slot(ImageFolder.headerPlace, count: image.boot.count) == image.boot)
        #expect(image.slotsCalls == ["is-good", "stay", "try"])
    }

    @Test("each step counts up to all bytes")
    func progress() throws {
        var last: [(UpdateInstallation.Step, Int64)] = []
        try image.install { step, done, total in
            if last.last?.0 != step { last.append((step, done)) }
            #expect(done >= last[last.count - 1].1 && done <= total)
            last[last.count - 1].1 = done
        }
        let total = Int64(image.root.count + image.boot.count)
        #expect(last.map { $0.0 } == [.checking, .writing, .verifying])
        // The header's sector is written last and is not counted.
        #expect(last.map { $0.1 } == [total, total - 512, total - 512])
    }

    @Test(
        "a changed byte is refused before anything is written",
        arguments: [
            (0, "wrongSignature"), (63, "wrongSignature"), (64, "wrongSignature"), (1023, "wrongSignature"),
            (1024, "damaged"), (200_000, "damaged"), (-1, "damaged"),
        ])
    func changed(place: Int, code: String) throws {
        var bytes = image.bundle
        bytes[place < 0 ? bytes.count + place : place] ^= 1
        try expectRefusal(code, of: bytes)
    }

    @Test(
        "a bundle that was cut off is refused before anything is written",
        arguments: [
            (0, "tooShort"), (10, "tooShort"), (1023, "tooShort"), (1024, "damaged"), (150_000, "damaged"),
            (-1, "damaged"),
        ])
    func cutOff(count: Int, code: String) throws {
        let bytes = image.bundle
        try expectRefusal(code, of: Array(bytes[..<(count < 0 ? bytes.count + count : count)]))
    }

    @Test("another key, board, form or an older version is refused")
    func refused() throws {
        try image.write("board=rpi3\nversion=0.1\n", to: "etc/tonearm-release")
        try expectRefusal("otherBoard", of: image.bundle)
        try image.write("board=virtual\nversion=0.9.11\n", to: "etc/tonearm-release")
        try expectRefusal("older", of: image.bundle)
        try image.write("board=virtual\nversion=0.1\n", to: "etc/tonearm-release")
        try expectRefusal("unknownForm", of: try ImageFolder.fixture("other-form"))
        // The generator of P-256: a point on the curve, and not the key of the test.
        try image.write(
            "046b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296"
                + "4fe342e2fe1a7f9b8ee7eb4a7c0f9e162bce33576b315ececbb6406837bf51f5\n", to: "etc/tonearm/update-key")
        try expectRefusal("wrongSignature", of: image.bundle)
    }

    @Test("an older version is installed when it is forced; the same version always")
    func forced() throws {
        try image.write("board=virtual\nversion=0.10\n", to: "etc/tonearm-release")
        #expect(try image.install(isForced: true) == "0.9.10")
        try image.write("board=virtual\nversion=0.9.10\n", to: "etc/tonearm-release")
        #expect(try image.install() == "0.9.10")
    }

    @Test("the slot stays as it is while the running version is on trial")
    func onTrial() throws {
        try image.writeSlots("[ \"$1\" = try ]")
        try expectRefusal("onTrial", of: image.bundle)
    }

    @Test("a boot state that cannot be written is an error")
    func notSwitched() throws {
        try image.writeSlots("[ \"$1\" = is-good ]")
        #expect(throws: UpdateError.notSwitched) { try image.install() }
    }

    @Test("one update at a time")
    func locked() throws {
        let lock = try LockFile(image.path("run/tonearm-update.lock"))
        #expect(throws: UpdateError.running) { try image.install(keepsLock: true) }
        extendLifetime(lock)
    }

    @Test("a system that is no firmware image is not touched")
    func noImage() throws {
        try FileManager.default.removeItem(atPath: image.path("run/disk"))
        let error = #expect(throws: UpdateError.self) { try image.install() }
        #expect(error?.code == "noImage")
    }

    @Test("an image without a key takes no updates, and says so")
    func noKey() throws {
        try FileManager.default.removeItem(atPath: image.path("etc/tonearm/update-key"))
        try expectRefusal("noKey", of: image.bundle)
    }

    @Test("a missing partition is an error, and no file takes its place")
    func missingPartition() throws {
        try FileManager.default.removeItem(atPath: image.slotPath)
        let error = #expect(throws: UpdateError.self) { try image.install() }
        #expect(error?.code == "unwritable")
        #expect(!FileManager.default.fileExists(atPath: image.slotPath))
    }

    @Test("a partition that is smaller than the update stays as it is")
    func smallSlot() throws {
        truncate(image.slotPath, 40 << 20)
        try expectRefusal("doesNotFit", of: image.bundle)
    }

    @Test("a cancelled update stops before its next bytes and is never tried", arguments: [0, 1, 2, 5])
    func cancelled(after count: Int) throws {
        var steps = 0
        let error = #expect(throws: UpdateError.self) {
            try UpdateInstallation(
                of: image.path("bundle"), root: image.folderPath, isCancelled: { steps == count },
                progress: { _, _, _ in steps += 1 }
            ).run()
        }
        #expect(error == .cancelled && steps == count)
        #expect(!image.slotsCalls.contains("try"))
        // Without its header, no slot is started.
        #expect(try image.slot(ImageFolder.headerPlace, count: 512).allSatisfy { $0 == 0 })
        #expect(try image.install() == "0.9.10")
    }

    @Test("a slot that cannot be written is never tried")
    func unwritableSlot() throws {
        try image.replaceSlotByFull()
        let error = #expect(throws: UpdateError.self) { try image.install() }
        #expect(error?.code == "unwritable")
        #expect(image.slotsCalls == ["is-good", "stay"])
    }

    @Test(
        "what cannot be written says what to do about it, and root only where its rights are missing",
        arguments: [
            (EACCES, "rights of root"), (EPERM, "rights of root"), (EIO, "replace the card"), (ENOSPC, "Make room"),
            (EROFS, "write slot: Read-only file system."),
        ])
    func unwritableAdvice(code: Int32, text: String) {
        let error = SystemError(code: code, operation: "write", subject: "slot")
        let description = UpdateError.unwritable(error).description
        #expect(description.contains(text))
        #expect(description.contains("root") == (code == EACCES || code == EPERM))
    }

    private func expectRefusal(_ code: String, of bytes: [UInt8]) throws {
        try Data(bytes).write(to: URL(fileURLWithPath: image.path("bundle")))
        let error = #expect(throws: UpdateError.self) { try image.install() }
        #expect(error?.code == code)
        #expect(!image.isSlotWritten)
        #expect(!image.slotsCalls.contains("try"))
    }
}

@Suite("Update bundles")
struct UpdateManifestTests {
    @Test(
        "versions are compared by their numbers",
        arguments: [("0.9", "0.10", true), ("0.10", "0.9", false), ("1", "1.0", false), ("1.0", "1.0.1", true)])
    func versions(left: String, right: String, isOlder: Bool) throws {
        let versions = try (#require(UpdateVersion(left)), #require(UpdateVersion(right)))
        #expect(versions.0.isOlder(than: versions.1) == isOlder)
    }

    @Test("what is no version", arguments: ["", "1.", "1..2", "1.a", "-1", "99999999999999999999"])
    func noVersion(text: String) { #expect(UpdateVersion(text) == nil) }

    @Test(
        "a manifest whose pieces do not fit a slot is not understood",
        arguments: [
            "piece=0 512 D\n", "piece=0 512 D\npiece=256 1024 D\n", "piece=0 1024 D\npiece=512 1024 D\n",
            "piece=0 512 D\npiece=67108352 1024 D\n", "piece=0 512 D\npiece=512 512 D\n", "piece=0 512 E\n",
            "piece=0 512 D\npiece=512 9223372036854775807 D\n", "piece=512 512 D\npiece=1024 1024 D\n",
            "piece=0 512 D\npiece=512 1024 D\npiece=2048 512 D\n", "piece=0 512 D\npiece=512 1024 D\nmore=1\n", "",
        ])
    func pieces(text: String) {
        #expect(manifest("tonearm-update 1\nboard=b\nversion=1\n" + text) == nil)
    }

    @Test("a manifest is understood")
    func understood() throws {
        let text = "tonearm-update 1\nboard=rpi4\nversion=1.2\npiece=0 512 D\npiece=4096 1024 D\n\n\n"
        let manifest = try #require(self.manifest(text))
        #expect(manifest.board == "rpi4" && manifest.version == "1.2")
        #expect(manifest.root.size == 512 && manifest.boot.offset == 4096 && manifest.contentSize == 1536)
        #expect(self.manifest("tonearm-update 1\nversion=1\npiece=0 512 D\npiece=4096 1024 D\n") == nil)
    }

    /// Parses a manifest in which a D stands for a digest.
    private func manifest(_ text: String) -> UpdateManifest? {
        let digest = String(repeating: "0f", count: 32)
        return UpdateManifest(parsing: Array(text.replacingOccurrences(of: " D", with: " \(digest)").utf8)[...])
    }
}

extension ImageFolder {
    @discardableResult
    func install(
        isForced: Bool = false, keepsLock: Bool = false,
        progress: @escaping (UpdateInstallation.Step, Int64, Int64) -> Void = { _, _, _ in }
    ) throws -> String {
        // A program that another test starts at this moment holds a copy of the last lock for an instant.
        if !keepsLock { try? FileManager.default.removeItem(atPath: path("run/tonearm-update.lock")) }
        return try UpdateInstallation(of: path("bundle"), isForced: isForced, root: folderPath, progress: progress)
            .run()
    }
}
