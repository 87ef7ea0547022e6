import Crypto

private let twoBlocks = "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"

/// Message and digest, from FIPS 180-4's examples and the Secure Hash Standard's CAVP files (SHA256ShortMsg).
private let digests: [(name: String, message: [UInt8], digest: String)] = [
    ("FIPS 180-4, empty", [], "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
    ("FIPS 180-4, abc", Array("abc".utf8), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
    (
        "FIPS 180-4, two blocks", Array(twoBlocks.utf8),
        "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
    ),
    (
        "FIPS 180-4, a million times a", [UInt8](repeating: 0x61, count: 1_000_000),
        "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"
    ),
    ("CAVP SHA256ShortMsg, 8 bits", [0xd3], "28969cdfa74a12c82f3bad960b0b000aca2ac329deea5c2328ebc6f2ba9802c1"),
]

/// RFC 4231, 4.2 to 4.8: key, data, code. Case 5 truncates, and is compared so.
private let codes: [(name: String, key: [UInt8], data: [UInt8], code: String)] = [
    (
        "RFC 4231 case 1", [UInt8](repeating: 0x0b, count: 20), Array("Hi There".utf8),
        "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"
    ),
    (
        "RFC 4231 case 2", Array("Jefe".utf8), Array("what do ya want for nothing?".utf8),
        "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
    ),
    (
        "RFC 4231 case 3", [UInt8](repeating: 0xaa, count: 20), [UInt8](repeating: 0xdd, count: 50),
        "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe"
    ),
    (
        "RFC 4231 case 4", Array(1...25), [UInt8](repeating: 0xcd, count: 50),
        "82558a389a443c0ea4cc819899f2083a85f0faa3e578f8077a2e3ff46729665b"
    ),
    (
        "RFC 4231 case 5", [UInt8](repeating: 0x0c, count: 20), Array("Test With Truncation".utf8),
        "a3b6167473100ee06e0c796c2955552b"
    ),
    (
        "RFC 4231 case 6", [UInt8](repeating: 0xaa, count: 131),
        Array("Test Using Larger Than Block-Size Key - Hash Key First".utf8),
        "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"
    ),
    (
        "RFC 4231 case 7", [UInt8](repeating: 0xaa, count: 131),
        Array(
            ("This is a test using a larger than block-size key and a larger than block-size data. "
                + "The key needs to be hashed before being used by the HMAC algorithm.").utf8),
        "9b09ffa71b942fcb27635fbcd5b0e944bfdc63644f0713938a7f51535c3a35e2"
    ),
]

extension Vector {
    static var hashes: [Vector] {
        digests.map { row in
            Vector(row.name) { () throws(CryptoError) in
                // In uneven steps, as from a file.
                var hash = try SHA256()
                var start = 0
                while start < row.message.count {
                    let end = min(start + 1 + start % 77, row.message.count)
                    try hash.update(Array(row.message[start..<end]))
                    start = end
                }
                let inPieces = try hash.finish()
                let atOnce = try SHA256.hash(row.message)
                return inPieces == hex(row.digest) && atOnce == inPieces
            }
        }
    }

    static var messageCodes: [Vector] {
        codes.map { row in
            Vector(row.name) { () throws(CryptoError) in
                let expected = hex(row.code)
                let code = try HMACSHA256.code(of: row.data, key: SecretBytes(copying: row.key))
                return Array(code.prefix(expected.count)) == expected
            }
        } + [
            Vector("HMAC: only the whole, right code is valid") { () throws(CryptoError) in
                let row = codes[0]
                let key = SecretBytes(copying: row.key)
                let code = hex(row.code)
                guard try HMACSHA256.isValid(code, of: row.data, key: key) else { return false }
                if try HMACSHA256.isValid([], of: row.data, key: key) { return false }
                if try HMACSHA256.isValid(Array(code.dropLast()), of: row.data, key: key) { return false }
                if try HMACSHA256.isValid(code + [0], of: row.data, key: key) { return false }
                for bit in 0..<code.count * 8 {
                    var changed = code
                    changed[bit / 8] ^= 1 << UInt8(bit % 8)
                    if try HMACSHA256.isValid(changed, of: row.data, key: key) { return false }
                }
                return true
            }
        ]
    }
}
