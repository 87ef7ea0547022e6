import Testing

@testable import Crypto

@Suite("The order of ciphers in TLS")
struct CipherPreferenceTests {
    @Test("AES-GCM comes first where the processor has AES, ChaCha20-Poly1305 elsewhere", arguments: [true, false])
    func order(processorHasAES: Bool) {
        let suites = CipherPreference(processorHasAES: processorHasAES).suites
        // TLS 1.3, and TLS 1.2 with either key.
        let pairs: [(aes: CipherPreference.Suite, chaCha20: CipherPreference.Suite)] = [
            (.aes128, .chaCha20), (.aes256, .chaCha20), (.aes128ECDSA, .chaCha20ECDSA),
            (.aes256ECDSA, .chaCha20ECDSA), (.aes128RSA, .chaCha20RSA), (.aes256RSA, .chaCha20RSA),
        ]
        for (aes, chaCha20) in pairs {
            let isAESFirst = suites.firstIndex(of: aes)! < suites.firstIndex(of: chaCha20)!
            #expect(isAESFirst == processorHasAES)
        }
        #expect(Set(suites.map(\.rawValue)).count == 9, "the other kind is still offered")
    }
}
