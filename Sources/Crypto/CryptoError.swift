import CMbedTLS

/// Why a cryptographic operation gave no result (docs/decisions/mbedtls-for-cryptography.md).
public enum CryptoError: Error, Equatable, Sendable {
    /// The tag does not fit the message: it was changed, cut, or sealed with another key, nonce or additional data.
    case notAuthentic
    /// An argument has a length, in bytes, that the operation does not take.
    case wrongLength(Argument, bytes: Int)
    /// The bytes are not a point of the curve P-256.
    case invalidPublicKey
    /// mbedTLS refused for another reason, most likely for lack of memory; the code is the library's own.
    case failed(code: Int32)

    /// The argument that has the wrong length.
    public enum Argument: Equatable, Sendable {
        case key, nonce, tag, counter, initializationVector, message, signature, publicKey, derivedKey
    }

    /// Throws `failed` when a function of mbedTLS returns an error.
    static func check(_ code: Int32) throws(CryptoError) {
        if code != 0 { throw .failed(code: code) }
    }
}

extension CryptoError: CustomStringConvertible {
    /// `the nonce has 13 bytes, which is not a valid length`
    public var description: String {
        switch self {
        case .notAuthentic: "the data fails authentication: it is damaged, or the key is wrong"
        case .wrongLength(let argument, let bytes):
            "the \(argument.name) has \(bytes) bytes, which is not a valid length"
        case .invalidPublicKey: "the public key is not a point of the curve P-256"
        case .failed(let code): "mbedTLS failed with code \(code)"
        }
    }
}

extension CryptoError.Argument {
    fileprivate var name: String {
        switch self {
        case .key: "key"
        case .nonce: "nonce"
        case .tag: "tag"
        case .counter: "counter"
        case .initializationVector: "initialization vector"
        case .message: "message"
        case .signature: "signature"
        case .publicKey: "public key"
        case .derivedKey: "derived key"
        }
    }
}
