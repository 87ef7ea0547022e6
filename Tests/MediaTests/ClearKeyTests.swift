import Testing

@testable import Media

@Suite("ClearKey (W3C Encrypted Media Extensions, 9.1)")
struct ClearKeyTests {
    static let id = EncryptionTests.bytes("2f05477fc24bb4faefd86517156daffc")

    @Test("A request has the IDs in the alphabet for URLs, without padding")
    func request() {
        let text = String(
            decoding: ClearKey.request(for: [Self.id, [UInt8](repeating: 0xFF, count: 16)]), as: UTF8.self)
        #expect(text == #"{"kids":["LwVHf8JLtPrv2GUXFW2v_A","_____________________w"],"type":"temporary"}"#)
        for count in 0..<20 {
            let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 * 37 + 251) }
            let request = String(decoding: ClearKey.request(for: [bytes]), as: UTF8.self)
            #expect(!request.contains("="))
        }
    }

    @Test("The keys of an answer; keys of other types are skipped")
    func answer() throws {
        let answer = """
            {"keys":[{"kty":"oct","kid":"LwVHf8JLtPrv2GUXFW2v_A","k":"ASNFZ4mrze8BI0VniavN7w"},
             {"kty":"RSA","n":"AQAB"},{"kty":"oct","k":"/////////////////////w==","kid":"AAAAAAAAAAAAAAAAAAAAAA"}],
             "type":"temporary"}
            """
        let keys = try ClearKey.keys(in: Array(answer.utf8))
        #expect(
            keys == [
                .init(id: Self.id, value: EncryptionTests.bytes("0123456789abcdef0123456789abcdef")),
                .init(id: [UInt8](repeating: 0, count: 16), value: [UInt8](repeating: 255, count: 16)),
            ])
    }

    @Test(
        "Other texts than answers are refused",
        arguments: [
            "", "{", "[]", "{}", #"{"keys":1}"#, #"{"keys":[{"kty":"oct"}]}"#,
            #"{"keys":[{"kty":"oct","kid":"LwVHf8JLtPrv2GUXFW2v_A","k":"AAAA"}]}"#,
            #"{"keys":[{"kty":"oct","kid":"*","k":"ASNFZ4mrze8BI0VniavN7w"}]}"#,
        ])
    func refused(answer: String) {
        #expect {
            try ClearKey.keys(in: Array(answer.utf8))
        } throws: { error in
            if case .license = error as? MediaError { true } else { false }
        }
    }

    @Test("A server is asked once for each key, and its keys are kept")
    func exchange() throws {
        var requests = 0
        let other = [UInt8](repeating: 0, count: 16)
        let licenses = ClearKeyLicenses { (request) throws(MediaError) -> [UInt8] in
            requests += 1
            let keys =
                #"{"kty":"oct","kid":"LwVHf8JLtPrv2GUXFW2v_A","k":"ASNFZ4mrze8BI0VniavN7w"},"#
                + #"{"kty":"oct","kid":"AAAAAAAAAAAAAAAAAAAAAA","k":"_____________________w"}"#
            return Array("{\"keys\":[\(keys)]}".utf8)
        }
        #expect(try licenses.key(KeyRequest(keyID: Self.id, systems: [])).first == 1)
        #expect(try licenses.key(KeyRequest(keyID: other, systems: [])).first == 255)
        #expect(requests == 1)
        let unknown = [UInt8](repeating: 9, count: 16)
        #expect(throws: MediaError.missingKey(id: unknown)) {
            try licenses.key(KeyRequest(keyID: unknown, systems: []))
        }
        #expect(requests == 2)
    }

    @Test("Key systems have names")
    func systems() {
        #expect(KeySystem(id: EncryptionTests.bytes("edef8ba979d64acea3c827dcd51d21ed")).name == "Widevine")
        #expect(KeySystem(id: EncryptionTests.bytes("94ce86fb07ff4f43adb893d2fa968ca2")).name == "FairPlay")
        #expect(KeySystem(id: Self.id).name == "the key system 2f05477fc24bb4faefd86517156daffc")
    }
}
