import Crypto

/// RFC 5869, appendix A: the cases with SHA-256.
private let rows: [(name: String, secret: [UInt8], salt: [UInt8], info: [UInt8], key: String)] = [
    (
        "RFC 5869 A.1", [UInt8](repeating: 0x0b, count: 22), hex("000102030405060708090a0b0c"),
        hex("f0f1f2f3f4f5f6f7f8f9"),
        "3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf34007208d5b887185865"
    ),
    (
        "RFC 5869 A.2", Array(0x00...0x4f), Array(0x60...0xaf), Array(0xb0...0xff),
        "b11e398dc80327a1c8e7f78c596a49344f012eda2d4efad8a050cc4c19afa97c59045a99cac7827271cb41c65e590e09"
            + "da3275600c2f09b8367793a9aca3db71cc30c58179ec3e87c14c01d5c1f3434f1d87"
    ),
    (
        "RFC 5869 A.3", [UInt8](repeating: 0x0b, count: 22), [], [],
        "8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d9d201395faa4b61a96c8"
    ),
]

extension Vector {
    static var derivedKeys: [Vector] {
        rows.map { row in
            Vector(row.name) { () throws(CryptoError) in
                let expected = hex(row.key)
                let key = try HKDFSHA256.deriveKey(
                    from: SecretBytes(copying: row.secret), salt: row.salt, info: row.info, count: expected.count)
                return bytes(of: key) == expected
            }
        } + [
            Vector("HKDF: 8160 bytes at most") { () throws(CryptoError) in
                let longest = try HKDFSHA256.deriveKey(from: secret("00"), salt: [], info: [], count: 8160)
                let errors = [0, -1, 8161].map { count in
                    failure { () throws(CryptoError) in
                        _ = try HKDFSHA256.deriveKey(from: secret("00"), salt: [], info: [], count: count)
                    }
                }
                return longest.count == 8160
                    && errors == [0, -1, 8161].map { .wrongLength(.derivedKey, bytes: $0) }
            }
        ]
    }
}
