import Network
import Platform

/// Recognises a web page instead of a resource: the login page of a network, or the answer of a filter
/// (docs/playback.md, 15.15). A content service never sends a page.
enum WebPage {
    /// The number of bytes that are inspected.
    private static let reach = 1024
    /// The fewest bytes that count as text.
    private static let leastText = 8

    /// - Parameter beginning: the first bytes of the body that arrived together.
    static func isMeant(by head: ResponseHead, _ beginning: UnsafeRawBufferPointer) -> Bool {
        let text = beginning.prefix(reach).drop { isBlank($0) }
        if has("<!doctype html", at: text.startIndex, in: text) || has("<html", at: text.startIndex, in: text) {
            return true
        }
        guard isAnnounced(by: head) else { return false }
        // Files that a server has labelled wrongly are not pages.
        return text.first == UInt8(ascii: "<") && !has("<mpd", at: text.startIndex, in: text)
            && (!has("<?", at: text.startIndex, in: text) || text.indices.contains { has("<html", at: $0, in: text) })
    }

    /// Returns whether the bytes are text. No part of media begins so.
    static func isText(_ beginning: UnsafeRawBufferPointer) -> Bool {
        let text = beginning.prefix(reach)
        // Messages in other languages have other characters than ASCII, inside of JSON or XML.
        let isMarked = text.first { !isBlank($0) }.map { $0 == UInt8(ascii: "{") || $0 == UInt8(ascii: "<") } ?? false
        return text.count >= leastText
            && text.allSatisfy {
                (0x20...0x7E).contains($0) || (0x09...0x0D).contains($0) || isMarked && $0 >= 0x80
            }
    }

    /// Returns whether the head names the type of a message: text, JSON or XML.
    static func isMessageAnnounced(by head: ResponseHead) -> Bool {
        guard let type = head.value(of: "content-type") else { return false }
        let name = type.utf8.prefix { $0 != UInt8(ascii: ";") && $0 != 0x20 }.map { $0.lowercased }
        return name.starts(with: "text/".utf8) || name.suffix(4).elementsEqual("json".utf8)
            || name.suffix(3).elementsEqual("xml".utf8)
    }

    /// Returns whether the head names the type of a web page. The body may be something else.
    static func isAnnounced(by head: ResponseHead) -> Bool {
        guard let type = head.value(of: "content-type") else { return false }
        let bytes = type.utf8.map { $0.lowercased }
        return bytes.starts(with: "text/html".utf8) || bytes.starts(with: "application/xhtml".utf8)
    }

    /// Blanks, line ends, and the bytes of a byte-order mark.
    private static func isBlank(_ byte: UInt8) -> Bool {
        byte == 0x20 || (0x09...0x0D).contains(byte) || byte == 0xEF || byte == 0xBB || byte == 0xBF
    }

    /// - Parameter word: a word in lower case.
    private static func has(_ word: StaticString, at index: Int, in text: Slice<UnsafeRawBufferPointer>) -> Bool {
        guard text.endIndex - index >= word.utf8CodeUnitCount else { return false }
        return word.withUTF8Buffer { word in
            for (offset, byte) in word.enumerated() where text[index + offset].lowercased != byte { return false }
            return true
        }
    }

}
