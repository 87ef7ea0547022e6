import Crypto

// RFC 6979, A.2.5: the key, and the signatures of "sample" and "test" with SHA-256.
private let x = "60fed4ba255a9d31c961eb74c6356d68c049b8923b61fa6ce669622e60f29fb6"
private let y = "7903fe1008b8bc99a41ae9e95628bc64f2f1b20c2d7e9f5177a3c294d4462299"
private let sampleR = "efd48b2aacb6a8fd1140dd9cd45e81d69d2c877b56aaf991c34d0ea84eaf3716"
private let sampleS = "f7cb1c942d657c41d436c7a1b6e29f65f3e900dbb9aff4064dc4ab2f843acda8"
private let testR = "f1abb023518351cd71d881567b1ea663ed3efcf6c5132b354f28d3b0b7d38367"
private let testS = "019f4113742a2b14bd25926b49c649155f267e60d3814b4c0cc84250e46f0083"

// SP 800-186, 3.2.1.3: order and prime of P-256.
private let order = "ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551"
private let orderPlusOne = "ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632552"
private let orderMinusOne = "ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632550"
private let prime = "ffffffff00000001000000000000000000000000ffffffffffffffffffffffff"
private let zero = "0000000000000000000000000000000000000000000000000000000000000000"
private let one = "0000000000000000000000000000000000000000000000000000000000000001"
private let most = "ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff"

private func isValid(_ signature: String, of message: String) throws(CryptoError) -> Bool {
    var key = try P256PublicKey(uncompressed: hex("04" + x + y))
    return try key.isValid(hex(signature), of: Array(message.utf8))
}

extension Vector {
    static var signatures: [Vector] {
        [
            Vector("RFC 6979 A.2.5, sample") { () throws(CryptoError) in
                try isValid(sampleR + sampleS, of: "sample")
            },
            Vector("RFC 6979 A.2.5, test") { () throws(CryptoError) in
                try isValid(testR + testS, of: "test")
            },
            // RFC 4754, 8.1.
            Vector("RFC 4754 8.1, abc") { () throws(CryptoError) in
                var key = try P256PublicKey(
                    uncompressed: hex(
                        "04 2442a5cc0ecd015fa3ca31dc8e2bbc70bf42d60cbca20085e0822cb04235e970"
                            + "6fc98bd7e50211a4a27102fa3549df79ebcb4bf246b80945cddfe7d509bbfd7d"))
                return try key.isValid(
                    hex(
                        "cb28e0999b9c7715fd0a80d8e47a77079716cbbf917dd72e97566ea1c066957c"
                            + "86fa3bb4e26cad5bf90b7f81899256ce7594bb1ea0c89212748bff3b3d5b0315"),
                    of: Array("abc".utf8))
            },
        ]
    }

    /// The kinds of cases that Project Wycheproof collects.
    static var forgeries: [Vector] {
        let special = [zero, one, orderMinusOne, order, orderPlusOne, prime, most]
        let numbers = special.flatMap { r in special.map { s in r + s } }
        return [
            Vector("ECDSA: the other message is not signed") { () throws(CryptoError) in
                if try isValid(sampleR + sampleS, of: "test") { return false }
                if try isValid(testR + testS, of: "sample") { return false }
                if try isValid(sampleS + sampleR, of: "sample") { return false }
                return try !isValid(sampleR + testS, of: "sample")
            },
            Vector("ECDSA: special values of r and s are not valid") { () throws(CryptoError) in
                for signature in numbers + special.map({ sampleR + $0 }) + special.map({ $0 + sampleS }) {
                    if try isValid(signature, of: "sample") { return false }
                }
                return true
            },
            Vector("ECDSA: each flipped bit is not valid") { () throws(CryptoError) in
                var key = try P256PublicKey(uncompressed: hex("04" + x + y))
                let signature = hex(testR + testS)
                for bit in stride(from: 0, to: signature.count * 8, by: 5) {
                    var changed = signature
                    changed[bit / 8] ^= 1 << UInt8(bit % 8)
                    if try key.isValid(changed, of: Array("test".utf8)) { return false }
                }
                return true
            },
            Vector("ECDSA: a signature has 64 bytes") { () throws(CryptoError) in
                // r + 2^256 in 33 bytes, as a parser that drops the top byte would accept it.
                let long = "01" + sampleR + "00" + sampleS
                for signature in ["", sampleR, long, String((sampleR + sampleS).dropLast(2))] {
                    let error = failure { () throws(CryptoError) in _ = try isValid(signature, of: "sample") }
                    if error != .wrongLength(.signature, bytes: signature.utf8.count / 2) { return false }
                }
                return true
            },
            Vector("P-256: points that are not on the curve are not keys") { () throws(CryptoError) in
                let points = [
                    "04" + x + x, "04" + zero + zero, "04" + prime + y, "04" + x + prime, "04" + most + most,
                    // Compressed and hybrid forms of the right point are not accepted either.
                    "02" + x + y, "03" + x + y, "07" + x + y, "00" + x + y,
                ]
                for point in points {
                    let error = failure { () throws(CryptoError) in _ = try P256PublicKey(uncompressed: hex(point)) }
                    if error != .invalidPublicKey { return false }
                }
                for point in ["", "00", "03" + x, "04" + x, "04" + x + y + "00"] {
                    let error = failure { () throws(CryptoError) in _ = try P256PublicKey(uncompressed: hex(point)) }
                    if error != .wrongLength(.publicKey, bytes: point.utf8.count / 2) { return false }
                }
                return true
            },
        ]
    }
}
