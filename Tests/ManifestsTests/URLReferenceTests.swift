import Platform
import Testing

@testable import Manifests

@Suite("URLs")
struct URLReferenceTests {
    @Test(
        "References are resolved as in RFC 3986, 5.4",
        arguments: [
            ("g:h", "g:h"), ("g", "http://a/b/c/g"), ("./g", "http://a/b/c/g"), ("g/", "http://a/b/c/g/"),
            ("/g", "http://a/g"), ("//g", "http://g"), ("?y", "http://a/b/c/d;p?y"), ("g?y", "http://a/b/c/g?y"),
            ("#s", "http://a/b/c/d;p?q"), ("g#s", "http://a/b/c/g"), ("g?y#s", "http://a/b/c/g?y"),
            (";x", "http://a/b/c/;x"), ("g;x", "http://a/b/c/g;x"), ("g;x?y#s", "http://a/b/c/g;x?y"),
            ("", "http://a/b/c/d;p?q"), (".", "http://a/b/c/"), ("./", "http://a/b/c/"), ("..", "http://a/b/"),
            ("../", "http://a/b/"), ("../g", "http://a/b/g"), ("../..", "http://a/"), ("../../", "http://a/"),
            ("../../g", "http://a/g"), ("../../../g", "http://a/g"), ("../../../../g", "http://a/g"),
            ("/./g", "http://a/g"), ("/../g", "http://a/g"), ("g.", "http://a/b/c/g."), (".g", "http://a/b/c/.g"),
            ("g..", "http://a/b/c/g.."), ("..g", "http://a/b/c/..g"), ("./../g", "http://a/b/g"),
            ("./g/.", "http://a/b/c/g/"), ("g/./h", "http://a/b/c/g/h"), ("g/../h", "http://a/b/c/h"),
            ("g;x=1/./y", "http://a/b/c/g;x=1/y"), ("g;x=1/../y", "http://a/b/c/y"),
            ("g?y/./x", "http://a/b/c/g?y/./x"), ("g?y/../x", "http://a/b/c/g?y/../x"),
            ("g#s/./x", "http://a/b/c/g"), ("http:g", "http:g"),
        ])
    func resolution(reference: String, target: String) {
        let base = URLReference("http://a/b/c/d;p?q")
        #expect(URLReference(reference).resolved(against: base).url == target)
    }

    @Test("Other bases, white space, and schemes")
    func bases() {
        func url(_ reference: String, _ base: String) -> String {
            URLReference(reference).resolved(against: URLReference(base)).url
        }
        #expect(url(" seg 1.mp4 \n", "HTTPS://h:8/x?token=a/b") == "https://h:8/seg%201.mp4")
        #expect(url("seg.mp4?t=1~a:b", "https://h") == "https://h/seg.mp4?t=1~a:b")
        #expect(url("a/../b", "") == "a/../b")
        #expect(url("https://h/a//b/../c", "data:,x") == "https://h/a//c")
        #expect(URLReference("1a:b").schemeName == nil && URLReference("a+b-c.d:e").schemeName == "a+b-c.d")
    }

    @Test(
        "Characters that a URL cannot have are percent-encoded, once",
        arguments: [
            ("a b.mp4", "a%20b.mp4"), ("a%20b", "a%20b"), ("100%", "100%25"), ("%zz", "%25zz"), ("%4", "%254"),
            ("é/ü?q=ß", "%C3%A9/%C3%BC?q=%C3%9F"), ("a\"<>\\^`{|}", "a%22%3C%3E%5C%5E%60%7B%7C%7D"),
            ("a\u{1}\u{7F}", "a%01%7F"), ("\t\n a \r\n", "a"), ("a?b=[1]&c=(2)!*'", "a?b=[1]&c=(2)!*'"),
        ])
    func encoding(reference: String, expected: String) {
        let url = URLReference(reference).resolved(against: URLReference("http://h/")).url
        #expect(url == "http://h/\(expected)")
        #expect(URLReference(url).url == url, "a second time changes nothing")
    }

    @Test("data: URLs")
    func dataURLs() throws {
        let cases: [(String, String, String)] = [
            ("data:,A%20brief%20note", "text/plain", "A brief note"),
            ("DATA:Text/HTML;charset=x,%3Cb>", "text/html", "<b>"),
            ("data:application/vnd.apple.mpegurl;base64,I0VYVE0zVQ==", "application/vnd.apple.mpegurl", "#EXTM3U"),
            ("data:;base64,I0VYVE0zVQ%3D%3D", "text/plain", "#EXTM3U"), ("data:;base64,", "text/plain", ""),
        ]
        for (url, type, text) in cases {
            let data = try #require(DataURL(url))
            #expect(data.mediaType == type && data.bytes == Array(text.utf8))
        }
        for url in [
            "data:x", "data:,%4", "data:,%zz", "data:;base64,A", "data:;base64,A===", "data:;base64,AA=A", "http:,",
            "data:;base64,..",
        ] {
            #expect(DataURL(url) == nil, "\(url)")
        }
    }

    @Test("Base64 as in RFC 4648, 10")
    func base64() {
        let cases = [
            ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("fooba", "Zm9vYmE="),
            ("foobar", "Zm9vYmFy"), ("foob", "Zm9v\nYg"), ("\u{FB}ÿ", "w7vDvw"),
        ]
        for (plain, text) in cases { #expect(Base64.bytes(text.utf8) == Array(plain.utf8)) }
        #expect(Base64.bytes("-_8=".utf8) == [0xFB, 0xFF] && Base64.bytes("+/8=".utf8) == [0xFB, 0xFF])
    }
}
