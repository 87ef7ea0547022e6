import Testing

@testable import OriginService

@Suite("Signed addresses")
struct URLSignerTests {
    private let signer = URLSigner(key: [UInt8](repeating: 7, count: 32))
    private let folder = "/v1/content/1/a-b/"

    private var token: String { String(signer.signature(of: folder, until: 1000).dropFirst("token=".count)) }

    @Test("Good up to the second of its expiry", arguments: [(0, true), (1000, true), (1001, false)])
    func expiry(now: Int64, isValid: Bool) {
        #expect(signer.isValid(token, of: folder, at: now) == isValid)
    }

    @Test("The form: the expiry, and 32 bytes for an address")
    func form() {
        let parts = token.split(separator: "~")
        #expect(parts.count == 2 && parts[0] == "1000" && parts[1].utf8.count == 43)
        #expect(parts[1].utf8.allSatisfy { Character(UnicodeScalar($0)).isLetter || "0123456789-_".utf8.contains($0) })
    }

    @Test("Not for another folder, another expiry, another service, or anything else")
    func forgery() {
        #expect(!signer.isValid(token, of: "/v1/content/2/a-b/", at: 0))
        #expect(!signer.isValid("2000" + token.dropFirst(4), of: folder, at: 0))
        #expect(!signer.isValid("01000" + token.dropFirst(4), of: folder, at: 0))
        #expect(!signer.isValid(String(token.dropLast()), of: folder, at: 0))
        for text in ["", "~", "1000", "1000~", "-1~", token + "A"] {
            #expect(!signer.isValid(text, of: folder, at: 0))
        }
        #expect(!URLSigner(key: [UInt8](repeating: 8, count: 32)).isValid(token, of: folder, at: 0))
    }
}
