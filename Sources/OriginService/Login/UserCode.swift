import Platform

/// The code that the user types from the player into the page: eight consonants, `WDJB-MJHT` (RFC 8628, 6.1).
enum UserCode {
    /// Without vowels there are no words. 20^8 codes are too many to try in the minutes in which one is valid.
    private static let letters = Array("BCDFGHJKLMNPQRSTVWXZ".utf8)
    private static let count = 8

    /// Returns a new code, without the dash.
    static func make(_ random: some RandomSource) -> String {
        var code: [UInt8] = []
        while code.count < count {
            // 240 is the largest multiple of 20 in a byte, so all letters are equally likely.
            for byte in random.bytes(count) where byte < 240 && code.count < count {
                code.append(letters[Int(byte) % letters.count])
            }
        }
        return String(decoding: code, as: UTF8.self)
    }

    /// Reads the user's input, without dashes, blanks and case; nil when it cannot be a code.
    static func read(_ text: String) -> String? {
        guard text.utf8.count <= 64 else { return nil }
        let code = text.uppercased().utf8.filter { letters.contains($0) }
        return code.count == count ? String(decoding: code, as: UTF8.self) : nil
    }

    /// Returns the code in the form for users.
    static func shown(_ code: String) -> String { "\(code.prefix(count / 2))-\(code.dropFirst(count / 2))" }
}
