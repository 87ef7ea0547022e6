import Foundation
import Platform
import TestSupport
import Testing

@testable import Crypto

@Suite("The device's key")
struct DeviceKeyTests {
    private let plain = Array("a token".utf8)
    private let context = Array("tonearm.login".utf8)

    @Test("Sealed bytes are opened by the same key in its file, which its owner alone may read")
    func loads() throws {
        let folder = try ScratchFolder()
        let sealed = try DeviceKey.load(folder: folder.path).seal(plain, context: context)
        #expect(sealed.count == plain.count + 29)
        #expect(try DeviceKey.load(folder: folder.path).open(sealed, context: context) == plain)
        let path = folder[DeviceKey.fileName]
        let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions]
        #expect(mode as? Int == 0o600)
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)).count == 32)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == [DeviceKey.fileName])
    }

    @Test("Sealing twice gives different bytes, and an empty text is one, too")
    func nonces() throws {
        let key = DeviceKey(secret: SecretBytes(randomCount: 32))
        #expect(key.seal(plain, context: context) != key.seal(plain, context: context))
        #expect(try key.open(key.seal([], context: context), context: context) == [])
    }

    @Test("Another key, another context and every changed byte are noticed")
    func authentic() throws {
        let key = DeviceKey(secret: SecretBytes(randomCount: 32))
        let sealed = key.seal(plain, context: context)
        let other = DeviceKey(secret: SecretBytes(randomCount: 32))
        #expect(throws: CryptoError.notAuthentic) { try other.open(sealed, context: context) }
        #expect(throws: CryptoError.notAuthentic) { try key.open(sealed, context: []) }
        for index in sealed.indices {
            var changed = sealed
            changed[index] ^= 1
            #expect(throws: CryptoError.notAuthentic) { try key.open(changed, context: context) }
            #expect(throws: CryptoError.notAuthentic) { try key.open(Array(sealed[..<index]), context: context) }
        }
    }

    @Test("A file that is no key is an error, and stays", arguments: [0, 31, 33, 5000])
    func damaged(count: Int) throws {
        let folder = try ScratchFolder()
        let path = folder[DeviceKey.fileName]
        let bytes = Data(repeating: 7, count: count)
        try bytes.write(to: URL(fileURLWithPath: path))
        #expect(throws: DeviceKeyError.self) { _ = try DeviceKey.load(folder: folder.path) }
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == bytes)
    }

    @Test(
        "A key to which others have a right is its owner's alone after it was read",
        arguments: [0o644, 0o620, 0o600])
    func permissions(mode: Int) throws {
        let folder = try ScratchFolder()
        let sealed = try DeviceKey.load(folder: folder.path).seal(plain, context: context)
        let path = folder[DeviceKey.fileName]
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
        #expect(try DeviceKey.load(folder: folder.path).open(sealed, context: context) == plain)
        #expect(try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int == 0o600)
    }

    @Test("Without its folder there is no key")
    func missingFolder() throws {
        let folder = try ScratchFolder()
        #expect(throws: DeviceKeyError.self) { _ = try DeviceKey.load(folder: folder["missing"]) }
    }

    @Test("Threads that create it at once get the same key")
    func race() throws {
        let folder = try ScratchFolder()
        let lock = Lock()
        // Safe: guarded by `lock`, and read when all threads have ended.
        nonisolated(unsafe) var sealed: [[UInt8]] = []
        DispatchQueue.concurrentPerform(iterations: 16) { _ in
            guard let key = try? DeviceKey.load(folder: folder.path) else { return }
            let one = key.seal(plain, context: context)
            lock.withLock { sealed.append(one) }
        }
        #expect(sealed.count == 16)
        let key = try DeviceKey.load(folder: folder.path)
        for one in sealed { #expect(try key.open(one, context: context) == plain) }
    }
}
