import Crypto

// NIST SP 800-38A, appendix F: one message for every mode.
private let message = hex(
    "6bc1bee22e409f96e93d7e117393172a ae2d8a571e03ac9c9eb76fac45af8e51 30c81c46a35ce411e5fbc1191a0a52ef"
        + "f69f2445df4f9b17ad2b417be66c3710")
private let key128 = "2b7e151628aed2a6abf7158809cf4f3c"
private let key256 = "603deb1015ca71be2b73aef0857d7781 1f352c073b6108d72d9810a30914dff4"

private struct Row {
    let name: String
    let key: String
    let result: String
}

private let counterRows = [
    Row(
        name: "SP 800-38A F.5.1, CTR-AES128", key: key128,
        result: "874d6191b620e3261bef6864990db6ce 9806f66b7970fdff8617187bb9fffdff 5ae4df3edbd5d35e5b4f09020db03eab"
            + "1e031dda2fbe03d1792170a0f3009cee"),
    Row(
        name: "SP 800-38A F.5.5, CTR-AES256", key: key256,
        result: "601ec313775789a5b7a7f504bbf3d228 f443e3ca4d62b59aca84e990cacaf5c5 2b0930daa23de94ce87017ba2d84988d"
            + "dfc9c58db67aada613c2dd08457941a6"),
]

private let chainingRows = [
    Row(
        name: "SP 800-38A F.2.1, CBC-AES128", key: key128,
        result: "7649abac8119b246cee98e9b12e9197d 5086cb9b507219ee95db113a917678b2 73bed6b8e3c1743b7116e69e22229516"
            + "3ff1caa1681fac09120eca307586e1a7"),
    Row(
        name: "SP 800-38A F.2.5, CBC-AES256", key: key256,
        result: "f58c4c04d6e5f1ba779eabfb5f7bfbd6 9cfc4e967edb808d679f777bc6702c7d 39f23369a9d9bacfa530e26304231461"
            + "b2eb05e2c39be9fcda6c19078c6a9d1b"),
]

extension Vector {
    static var counterMode: [Vector] {
        counterRows.flatMap { row in
            let counter = hex("f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff")
            let result = hex(row.result)
            return [
                Vector(row.name) { () throws(CryptoError) in
                    var stream = try AESCTR(key: secret(row.key), initialCounter: counter)
                    return try stream.process(message) == result
                },
                Vector(row.name + ", in two pieces of every length") { () throws(CryptoError) in
                    for cut in 0...message.count {
                        var stream = try AESCTR(key: secret(row.key), initialCounter: counter)
                        let first = try stream.process(Array(message[..<cut]))
                        let second = try stream.process(Array(message[cut...]))
                        if first + second != result { return false }
                    }
                    return true
                },
                Vector(row.name + ", from every offset") { () throws(CryptoError) in
                    var stream = try AESCTR(key: secret(row.key), initialCounter: counter)
                    for offset in (0...message.count).reversed() {
                        try stream.seek(to: UInt64(offset))
                        if try stream.process(Array(message[offset...])) != Array(result[offset...]) { return false }
                    }
                    return true
                },
            ]
        } + [
            Vector("CTR: a counter of all ones wraps to zero") { () throws(CryptoError) in
                let zeros = [UInt8](repeating: 0, count: 32)
                var wrapping = try AESCTR(key: secret(key128), initialCounter: [UInt8](repeating: 255, count: 16))
                var zero = try AESCTR(key: secret(key128), initialCounter: [UInt8](repeating: 0, count: 16))
                let wrapped = try wrapping.process(zeros)
                let first = try zero.process([UInt8](repeating: 0, count: 16))
                try wrapping.seek(to: 16)
                let sought = try wrapping.process([UInt8](repeating: 0, count: 16))
                return Array(wrapped[16...]) == first && sought == first
            }
        ]
    }

    static var blockChaining: [Vector] {
        chainingRows.flatMap { row in
            let start = hex("000102030405060708090a0b0c0d0e0f")
            let result = hex(row.result)
            return [
                Vector(row.name + ", encrypt") { () throws(CryptoError) in
                    var chain = try AESCBC(.encrypt, key: secret(row.key), initializationVector: start)
                    return try chain.process(message) == result
                },
                Vector(row.name + ", decrypt, a block at a time") { () throws(CryptoError) in
                    var chain = try AESCBC(.decrypt, key: secret(row.key), initializationVector: start)
                    var plain: [UInt8] = []
                    for block in stride(from: 0, to: result.count, by: 16) {
                        plain += try chain.process(Array(result[block..<block + 16]))
                    }
                    return plain == message
                },
            ]
        }
    }
}
