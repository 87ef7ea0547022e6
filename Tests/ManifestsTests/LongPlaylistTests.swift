import Testing

@testable import Manifests

@Suite("Playlists of 50,000 segments")
struct LongPlaylistTests {
    static let most = 50_000

    static func playlist(_ text: String) throws -> SegmentList {
        let text = "#EXTM3U\n#EXT-X-TARGETDURATION:4\n\(text)#EXT-X-ENDLIST\n"
        return try MediaPlaylist(Array(text.utf8), url: HLSTests.base).segments
    }

    static func keys(_ numbers: Range<Int> = 0..<16, _ more: String = "", uri: String = "k") -> String {
        numbers.map { "#EXT-X-KEY:METHOD=AES-128,URI=\"\(uri)\($0)\",KEYFORMAT=\"f\($0)\"\(more)\n" }.joined()
    }

    /// The keys and the lists of keys that are in memory, as objects.
    private func stored(_ list: SegmentList) -> (keys: Int, lists: Int) {
        var keys: Set<ObjectIdentifier> = []
        var lists: Set<UnsafeRawPointer> = []
        for segment in list.segments {
            for kept in [segment.keys, segment.initializationKeys] where !kept.isEmpty {
                keys.formUnion(kept.declared.map { ObjectIdentifier($0) })
                kept.declared.withUnsafeBytes { _ = lists.insert($0.baseAddress!) }
            }
        }
        return (keys.count, lists.count)
    }

    @Test("Sixteen keys are in memory once, whatever vectors follow from the numbers")
    func sharedKeys() throws {
        let list = try Self.playlist(
            Self.keys() + (0..<Self.most).map { "#EXTINF:4,\n\($0).aac\n" }.joined())
        #expect(list.segments.count == Self.most)
        #expect(stored(list) == (16, 1))
        let last = try #require(list.segments.last?.protections)
        #expect(last.map(\.keyURI) == (0..<16).map { "https://h/a/k\($0)" })
        #expect(last.allSatisfy { $0.initializationVector == [UInt8](repeating: 0, count: 14) + [0xC3, 0x4F] })
        #expect(list.declaredProtections.count == 16)
    }

    @Test("Tags that are repeated before each segment add nothing, in any order")
    func repeatedKeys() throws {
        let vector = ",IV=0x000102030405060708090A0B0C0D0E0F"
        let list = try Self.playlist(
            (0..<2000).map { number in
                Self.keys(0..<8, vector) + Self.keys(8..<16) + "#EXTINF:4,\n\(number).aac\n"
            }.joined())
        #expect(stored(list) == (16, 1))
        #expect(list.segments[1999].protections[0].initializationVector == Array(0...15))
        #expect(list.segments[1999].protections[8].initializationVector?.suffix(2) == [7, 0xCF])
    }

    @Test("One key that changes with each segment leaves the others shared; so with each initialization")
    func oneChangingKey() throws {
        let list = try Self.playlist(
            Self.keys()
                + (0..<2000).map { number in
                    Self.keys(3..<4, uri: "n\(number)-") + "#EXT-X-MAP:URI=\"m\"\n#EXTINF:4,\n\(number).aac\n"
                }.joined())
        #expect(stored(list).keys == 15 + 2000)
        #expect(stored(list).lists == 2000)
        let segment = list.segments[7]
        #expect(segment.protections.last?.keyURI == "https://h/a/n7-3" && segment.protections.count == 16)
        #expect(segment.initializationKeys.protections.last?.keyURI == "https://h/a/n7-3")
        // No number of a segment is a vector of its initialization.
        #expect(segment.initializationKeys.protections[0].initializationVector == nil)
    }

    @Test("Keys are equal when their tags and their vectors are")
    func equality() throws {
        let list = try Self.playlist(
            Self.keys() + "#EXTINF:4,\n1\n#EXTINF:4,\n2\n" + Self.keys(0..<16, ",IV=0x000102030405060708090A0B0C0D0E0F")
                + "#EXTINF:4,\n3\n#EXTINF:4,\n4\n#EXT-X-KEY:METHOD=NONE\n#EXTINF:4,\n5\n#EXTINF:4,\n6\n")
        let keys = list.segments.map(\.keys)
        #expect(keys[0] != keys[1] && keys[1] != keys[2] && keys[2] == keys[3] && keys[3] != keys[4])
        #expect(keys[4] == keys[5] && keys[4].isEmpty)
    }
}
