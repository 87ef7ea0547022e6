import CMbedTLS

/// A public key on the curve P-256 that verifies ECDSA signatures (FIPS 186-4). Nothing here signs.
///
/// Any thread, one at a time.
public struct P256PublicKey: ~Copyable {
    /// The length of an uncompressed point: 0x04, x, y.
    public static let pointCount = 65
    /// The length of a signature: r and s, 32 bytes each in big-endian order (IEEE P1363, JWS ES256).
    public static let signatureCount = 64

    private let curve: Curve

    /// - Parameter bytes: an uncompressed point, 65 bytes.
    /// - Throws: `wrongLength(.publicKey)`, `invalidPublicKey` when the point is not on the curve, or `failed`.
    public init(uncompressed bytes: [UInt8]) throws(CryptoError) {
        guard bytes.count == Self.pointCount else { throw .wrongLength(.publicKey, bytes: bytes.count) }
        let curve = Curve()
        try CryptoError.check(mbedtls_ecp_group_load(curve.group, MBEDTLS_ECP_DP_SECP256R1))
        guard bytes[0] == 0x04, mbedtls_ecp_point_read_binary(curve.group, curve.point, bytes, bytes.count) == 0,
            mbedtls_ecp_check_pubkey(curve.group, curve.point) == 0
        else { throw .invalidPublicKey }
        self.curve = curve
    }

    // Without a deinit, Embedded Swift destroys the value in the module that uses it, where its members are not
    // visible.
    deinit {}

    /// Whether `signature` is this key's signature of `message`, hashed with SHA-256.
    /// - Parameter signature: r and s, 64 bytes.
    /// - Throws: `wrongLength(.signature)` or `failed`. A wrong signature returns false and is not an error.
    public mutating func isValid(_ signature: [UInt8], of message: [UInt8]) throws(CryptoError) -> Bool {
        try isValid(signature, ofDigest: SHA256.hash(message))
    }

    /// Whether `signature` is this key's signature of a message with that SHA-256 digest.
    /// - Parameters:
    ///   - signature: r and s, 64 bytes.
    ///   - digest: 32 bytes.
    /// - Throws: `wrongLength` or `failed`. A wrong signature returns false and is not an error.
    public mutating func isValid(_ signature: [UInt8], ofDigest digest: [UInt8]) throws(CryptoError) -> Bool {
        guard signature.count == Self.signatureCount else { throw .wrongLength(.signature, bytes: signature.count) }
        guard digest.count == SHA256.digestCount else { throw .wrongLength(.message, bytes: digest.count) }
        let r = BigNumber()
        let s = BigNumber()
        try r.read(signature[..<32])
        try s.read(signature[32...])
        let code = mbedtls_ecdsa_verify(curve.group, digest, digest.count, curve.point, r.pointer, s.pointer)
        // mbedTLS also returns this code when r or s is not between 1 and the order of the curve.
        if code == MBEDTLS_ERR_ECP_VERIFY_FAILED { return false }
        try CryptoError.check(code)
        return true
    }
}

/// The curve's parameters and a point on it.
private struct Curve: ~Copyable {
    let group = UnsafeMutablePointer<mbedtls_ecp_group>.allocate(capacity: 1)
    let point = UnsafeMutablePointer<mbedtls_ecp_point>.allocate(capacity: 1)

    init() {
        mbedtls_ecp_group_init(group)
        mbedtls_ecp_point_init(point)
    }

    deinit {
        mbedtls_ecp_group_free(group)
        mbedtls_ecp_point_free(point)
        group.deallocate()
        point.deallocate()
    }
}

/// An unsigned number of mbedTLS, read from bytes in big-endian order.
private struct BigNumber: ~Copyable {
    let pointer = UnsafeMutablePointer<mbedtls_mpi>.allocate(capacity: 1)

    init() { mbedtls_mpi_init(pointer) }

    func read(_ bytes: ArraySlice<UInt8>) throws(CryptoError) {
        let code = bytes.withUnsafeBytes { mbedtls_mpi_read_binary(pointer, $0.bytePointer, $0.count) }
        try CryptoError.check(code)
    }

    deinit {
        mbedtls_mpi_free(pointer)
        pointer.deallocate()
    }
}
