import Crypto

/// A row of the table: everything in hexadecimal.
private struct Row {
    let name: String
    let key: String
    let nonce: String
    var data = ""
    var message = ""
    var sealed = ""
    let tag: String
}

private let longMessage =
    "d9313225f88406e5a55909c5aff5269a 86a7a9531534f7da2e4c303d8a318a72 1c3c0c95956809532fcf0e2449a6b525"
    + "b16aedf5aa0de657ba637b39"
private let longData = "feedfacedeadbeeffeedfacedeadbeefabaddad2"

/// The Galois/Counter Mode of Operation (McGrew, Viega), appendix B: the examples that NIST adopted.
private let rows: [Row] = [
    Row(
        name: "GCM case 1", key: "00000000000000000000000000000000", nonce: "000000000000000000000000",
        tag: "58e2fccefa7e3061367f1d57a4e7455a"),
    Row(
        name: "GCM case 2", key: "00000000000000000000000000000000", nonce: "000000000000000000000000",
        message: "00000000000000000000000000000000", sealed: "0388dace60b6a392f328c2b971b2fe78",
        tag: "ab6e47d42cec13bdf53a67b21257bddf"),
    Row(
        name: "GCM case 3", key: "feffe9928665731c6d6a8f9467308308", nonce: "cafebabefacedbaddecaf888",
        message: longMessage + "1aafd255",
        sealed: "42831ec2217774244b7221b784d0d49c e3aa212f2c02a4e035c17e2329aca12e 21d514b25466931c7d8f6a5aac84aa05"
            + "1ba30b396a0aac973d58e091473f5985",
        tag: "4d5c2af327cd64a62cf35abd2ba6fab4"),
    Row(
        name: "GCM case 4", key: "feffe9928665731c6d6a8f9467308308", nonce: "cafebabefacedbaddecaf888",
        data: longData, message: longMessage,
        sealed: "42831ec2217774244b7221b784d0d49c e3aa212f2c02a4e035c17e2329aca12e 21d514b25466931c7d8f6a5aac84aa05"
            + "1ba30b396a0aac973d58e091",
        tag: "5bc94fbc3221a5db94fae95ae7121a47"),
    Row(
        name: "GCM case 13", key: "0000000000000000000000000000000000000000000000000000000000000000",
        nonce: "000000000000000000000000", tag: "530f8afbc74536b9a963b4f1c4cb738b"),
    Row(
        name: "GCM case 14", key: "0000000000000000000000000000000000000000000000000000000000000000",
        nonce: "000000000000000000000000", message: "00000000000000000000000000000000",
        sealed: "cea7403d4d606b6e074ec5d3baf39d18", tag: "d0d1c8a799996bf0265b98b5d48ab919"),
    Row(
        name: "GCM case 15", key: "feffe9928665731c6d6a8f9467308308feffe9928665731c6d6a8f9467308308",
        nonce: "cafebabefacedbaddecaf888", message: longMessage + "1aafd255",
        sealed: "522dc1f099567d07f47f37a32a84427d 643a8cdcbfe5c0c97598a2bd2555d1aa 8cb08e48590dbb3da7b08b1056828838"
            + "c5f61e6393ba7a0abcc9f662898015ad",
        tag: "b094dac5d93471bdec1a502270e3cc6c"),
    Row(
        name: "GCM case 16", key: "feffe9928665731c6d6a8f9467308308feffe9928665731c6d6a8f9467308308",
        nonce: "cafebabefacedbaddecaf888", data: longData, message: longMessage,
        sealed: "522dc1f099567d07f47f37a32a84427d 643a8cdcbfe5c0c97598a2bd2555d1aa 8cb08e48590dbb3da7b08b1056828838"
            + "c5f61e6393ba7a0abcc9f662",
        tag: "76fc6ece0f4e1768cddf8853bb2d551b"),
]

extension Vector {
    /// Sealing and opening.
    static var gcm: [Vector] {
        rows.map { row in
            Vector(row.name) { () throws(CryptoError) in
                var cipher = try AESGCM(key: secret(row.key))
                let (message, sealed) = (hex(row.message), hex(row.sealed + row.tag))
                let (nonce, data) = (hex(row.nonce), hex(row.data))
                let result = try cipher.seal(message, nonce: nonce, authenticating: data)
                let opened = try cipher.open(sealed, nonce: nonce, authenticating: data)
                return result == sealed && opened == message
            }
        }
    }

    /// Sealed data that must not open.
    static var gcmForgeries: [Vector] {
        let row = rows[7]
        let (key, nonce, data) = (row.key, hex(row.nonce), hex(row.data))
        let sealed = hex(row.sealed + row.tag)
        let flippedBits = Vector("GCM: each flipped bit is not authentic") { () throws(CryptoError) in
            var cipher = try AESGCM(key: secret(key))
            for bit in 0..<sealed.count * 8 {
                var changed = sealed
                changed[bit / 8] ^= 1 << UInt8(bit % 8)
                let error = failure { () throws(CryptoError) in
                    _ = try cipher.open(changed, nonce: nonce, authenticating: data)
                }
                if error != .notAuthentic { return false }
            }
            return true
        }
        let cut = Vector("GCM: each cut message is not authentic") { () throws(CryptoError) in
            var cipher = try AESGCM(key: secret(key))
            for count in 0..<sealed.count {
                let error = failure { () throws(CryptoError) in
                    _ = try cipher.open(Array(sealed[..<count]), nonce: nonce, authenticating: data)
                }
                let expected = count < 16 ? CryptoError.wrongLength(.message, bytes: count) : .notAuthentic
                if error != expected { return false }
            }
            return true
        }
        let others = Vector("GCM: another key, nonce or additional data is not authentic") { () throws(CryptoError) in
            var cipher = try AESGCM(key: secret(key))
            var otherCipher = try AESGCM(key: SecretBytes(count: 32) { _ in })
            let errors = [
                failure { () throws(CryptoError) in
                    _ = try cipher.open(sealed, nonce: nonce.reversed(), authenticating: data)
                },
                failure { () throws(CryptoError) in _ = try cipher.open(sealed, nonce: nonce) },
                failure { () throws(CryptoError) in
                    _ = try otherCipher.open(sealed, nonce: nonce, authenticating: data)
                },
            ]
            return errors == [.notAuthentic, .notAuthentic, .notAuthentic]
        }
        return [flippedBits, cut, others]
    }
}
