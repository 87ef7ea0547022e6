import Foundation
import Platform
import TestSupport
import Testing

@testable import Crypto

@Suite("The certificate and the key of a server")
struct TLSIdentityTests {
    private func identity(_ certificate: String, _ key: String) throws -> TLSIdentity {
        try TLSIdentity(
            certificate: ServerCertificate.bytes(certificate),
            key: SecretBytes(copying: try ServerCertificate.bytes(key)))
    }

    @Test(
        "Keys on P-256, P-384 and of RSA, in both forms of PEM",
        arguments: [.p256, .p384, .rsa] as [ServerCertificate.Kind])
    func kinds(kind: ServerCertificate.Kind) throws {
        let files = try ServerCertificate.of(kind)
        for key in [files.key, files.olderKey] {
            let identity = try identity(files.chain, key)
            let days = (identity.validUntil - SystemTime.clockMilliseconds() / 1000) / 86_400
            #expect((7...9).contains(days))
        }
    }

    @Test("A key with a password, of another certificate, or of a kind without support is refused")
    func mistakes() throws {
        let files = try ServerCertificate.of(.p256)
        let other = try ServerCertificate.of(.rsa)
        let unsupported = try ServerCertificate.of(.ed25519)
        #expect(throws: TLSIdentity.Mistake.key) { try identity(files.chain, files.lockedKey) }
        #expect(throws: TLSIdentity.Mistake.key) { try identity(files.chain, files.chain) }
        #expect(throws: TLSIdentity.Mistake.key) { try identity(files.chain, unsupported.key) }
        #expect(throws: TLSIdentity.Mistake.otherKey) { try identity(files.chain, other.key) }
        #expect(throws: TLSIdentity.Mistake.otherKey) { try identity(files.authority, files.key) }
        #expect(throws: TLSIdentity.Mistake.certificate) { try identity(files.key, files.key) }
        let empty = try ScratchFolder()
        FileManager.default.createFile(atPath: empty["file"], contents: nil)
        #expect(throws: TLSIdentity.Mistake.certificate) { try identity(empty["file"], files.key) }
        #expect(throws: TLSIdentity.Mistake.key) { try identity(files.chain, empty["file"]) }
    }

    @Test("A damaged certificate in the chain is not left out silently")
    func damaged() throws {
        let files = try ServerCertificate.of(.p256)
        var chain = try ServerCertificate.bytes(files.chain)
        let begin = Array("-----BEGIN CERTIFICATE-----\n".utf8)
        let last = try #require(chain.ranges(of: begin).last)
        chain.replaceSubrange(last.upperBound..<last.upperBound + 8, with: Array("AAAAAAAA".utf8))
        let key = try ServerCertificate.bytes(files.key)
        #expect(throws: TLSIdentity.Mistake.certificate) {
            try TLSIdentity(certificate: chain, key: SecretBytes(copying: key))
        }
    }

    @Test("A certificate that is not for servers, and a chain that no handshake can send, are refused")
    func unusable() throws {
        let files = try ServerCertificate.of(.p256)
        // It may sign certificates only.
        #expect(throws: TLSIdentity.Mistake.notOfServer) { try identity(files.signing, files.key) }
        let key = try ServerCertificate.bytes(files.key)
        let chain = try ServerCertificate.bytes(files.chain)
        let long = (0..<40).reduce(into: chain) { long, _ in long += chain }
        #expect(throws: TLSIdentity.Mistake.tooLong) {
            try TLSIdentity(certificate: long, key: SecretBytes(copying: key))
        }
    }

    @Test("An expired certificate has its end, and is no mistake")
    func expired() throws {
        let files = try ServerCertificate.of(.p256)
        // 2020-01-31, 12:00.
        #expect(try identity(files.expired, files.key).validUntil == 1_580_472_000)
    }
}
