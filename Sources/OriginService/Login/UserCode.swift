import Platform

/// The code that a person carries from the player to the page: eight consonants, `WDJB-MJHT` (RFC 8628, 6.1).
enum UserCode {
    /// No vowels: no words. 20^8 codes are too many to try in the minutes that one is good.
    private static let letters = Array("BCDFGHJKLMNPQRSTVWXZ".utf8)
    private static let count = 8

    /// A new code, without the dash.
    static func make(_ random: some RandomSource) -> String {
        var code: [UInt8] = []
        while code.count < count {
            // 240 is the largest multiple of 20 in a byte: each letter is as likely as the others.
            for byte in random.bytes(count) where byte < 240 && code.count < count {
                code.append(letters[Int(byte) % letters.count])
            }
        }
        return String(decoding: code, as: UTF8.self)
    }

    /// What a person typed, without dashes, blanks and case; nil when it cannot be a code.
    static func read(_ text: String) -> String? {
        guard text.utf8.count <= 64 else { return nil }
        let code = text.uppercased().utf8.filter { letters.contains($0) }
        return code.count == count ? String(decoding: code, as: UTF8.self) : nil
    }

    /// As a person reads it.
    static func shown(_ code: String) -> String { "\(code.prefix(count / 2))-\(code.dropFirst(count / 2))" }
}
