import CMbedTLS

/// The order in which TLS offers its ciphers. Most servers choose the first cipher that they support.
///
/// AES-GCM is several times as fast as ChaCha20-Poly1305 on a processor with instructions for AES. The Raspberry Pi up
/// to the 4 has none: ChaCha20-Poly1305 is faster there. AES would also need tables in memory, which leak the key to
/// other programs.
public enum CipherPreference: Equatable, Sendable {
    case aes
    case chaCha20

    /// A cipher suite by its number (RFC 8446, B.4; RFC 5289; RFC 7905). All of them have forward secrecy and
    /// authenticate what they encrypt.
    public enum Suite: Int32, Equatable, Sendable {
        // TLS 1.3
        case aes128 = 0x1301
        case aes256 = 0x1302
        case chaCha20 = 0x1303
        // TLS 1.2, by the key of the certificate
        case aes128ECDSA = 0xC02B
        case aes256ECDSA = 0xC02C
        case aes128RSA = 0xC02F
        case aes256RSA = 0xC030
        case chaCha20RSA = 0xCCA8
        case chaCha20ECDSA = 0xCCA9
    }

    public init(processorHasAES: Bool) { self = processorHasAES ? .aes : .chaCha20 }

    /// The faster cipher on this processor.
    public static var forThisProcessor: CipherPreference {
        CipherPreference(processorHasAES: tonearm_processor_has_aes() != 0)
    }

    /// All suites, the preferred ones first.
    public var suites: [Suite] {
        let aes: [Suite] = [.aes128, .aes256, .aes128ECDSA, .aes128RSA, .aes256ECDSA, .aes256RSA]
        let chaCha20: [Suite] = [.chaCha20, .chaCha20ECDSA, .chaCha20RSA]
        return switch self {
        case .aes: aes + chaCha20
        case .chaCha20: chaCha20 + aes
        }
    }
}
