import Crypto
import Platform

/// Encrypts the frames of a track with the scheme `cbcs` (ISO/IEC 23001-7, 10.4). It encrypts whole blocks of 16 bytes,
/// with one vector for all frames; the rest of a frame stays plain. The key, its ID and the vector are derived from the
/// origin's key and the content, so that none of them is stored.
///
/// Thread: any.
/// `@unchecked Sendable` is safe because its state never changes.
final class ContentEncryption: @unchecked Sendable {
    let keyID: [UInt8]
    let key: [UInt8]
    private let vector: [UInt8]

    private static let blockSize = 16
    /// W3C, "cenc" Initialization Data Format, 4.
    private static let commonSystem: [UInt8] = [
        0x10, 0x77, 0xEF, 0xEC, 0xC0, 0xB2, 0x4D, 0x02, 0xAC, 0xE3, 0x3C, 0x1E, 0x52, 0xE2, 0xFB, 0x4B,
    ]

    /// - Parameters:
    ///   - folder: the folder of the content, which changes with the content.
    ///   - secret: the origin's key.
    init(of folder: String, secret: borrowing SecretBytes) {
        keyID = Self.derived("key ID", folder, secret)
        key = Self.derived("content key", folder, secret)
        vector = Self.derived("initialization vector", folder, secret)
    }

    private static func derived(_ purpose: String, _ folder: String, _ secret: borrowing SecretBytes) -> [UInt8] {
        // Only missing memory makes this fail. Signed texts begin with a slash, so they never equal these.
        guard let code = try? HMACSHA256.code(of: Array("\(purpose)\n\(folder)".utf8), key: secret) else {
            preconditionFailure("HMAC without memory")
        }
        return Array(code[..<blockSize])
    }

    /// - Parameter sizes: the sizes of the frames in `bytes`.
    func encrypted(_ bytes: [UInt8], _ sizes: [Int]) -> [UInt8] {
        var bytes = bytes
        bytes.withUnsafeMutableBytes { all in
            var start = 0
            for size in sizes {
                let whole = all[start..<(start + size / Self.blockSize * Self.blockSize)]
                start += size
                do throws(CryptoError) {
                    var cipher = try AESCBC(
                        .encrypt, key: SecretBytes(copying: key), initializationVector: vector)
                    try cipher.process(UnsafeMutableRawBufferPointer(rebasing: whole))
                } catch {
                    preconditionFailure("AES: \(error.description)")
                }
            }
        }
        return bytes
    }

    // MARK: Boxes

    /// Writes `sinf`: the original format of an encrypted sample entry (ISO/IEC 14496-12, 8.12), and `tenc`.
    func writeScheme(of entry: StaticString, to box: inout BoxBytes) {
        box.box("sinf") { sinf in
            sinf.box("frma") { $0.ascii(entry) }
            sinf.fullBox("schm") { schm in
                schm.ascii("cbcs")
                schm.u32(0x0001_0000)
            }
            sinf.box("schi") { schi in
                schi.fullBox("tenc", version: 1) { tenc in
                    // No pattern: audio is encrypted as a whole. Protected, without a vector for each sample.
                    tenc.raw([0, 0, 1, 0])
                    tenc.raw(keyID)
                    tenc.u8(UInt8(vector.count))
                    tenc.raw(vector)
                }
            }
        }
    }

    /// Writes `pssh` of the common system: only the IDs of keys.
    func writeSystem(to box: inout BoxBytes) {
        box.fullBox("pssh", version: 1) { pssh in
            pssh.raw(Self.commonSystem)
            pssh.u32(1)
            pssh.raw(keyID)
            pssh.u32(0)
        }
    }
}
