/// Text of tags: any bytes become valid text.
package enum TagText {
    /// UTF-8 with invalid bytes replaced, without trailing NULs and blanks; nil when nothing is left.
    package static func utf8(_ bytes: some BidirectionalCollection<UInt8>) -> String? {
        let text = trimmed(bytes)
        return text.isEmpty ? nil : String(decoding: text, as: UTF8.self)
    }

    package static func latin1(_ bytes: some BidirectionalCollection<UInt8>) -> String? {
        let text = trimmed(bytes)
        return text.isEmpty ? nil : String(decoding: text.map { UInt16($0) }, as: UTF16.self)
    }

    /// For containers without a defined text encoding: UTF-8 when it is valid, else Latin-1.
    /// - Parameter isCut: whether `bytes` are the beginning of a text, and may end inside of a character.
    package static func guessed(_ bytes: some BidirectionalCollection<UInt8>, isCut: Bool = false) -> String? {
        let bytes = Array(bytes)
        let isUTF8 = (0...(isCut ? 3 : 0)).contains { isValidUTF8(bytes.dropLast($0)) }
        return isUTF8 ? utf8(bytes) : latin1(bytes)
    }

    package static func trimmed<Bytes: BidirectionalCollection<UInt8>>(_ bytes: Bytes) -> Bytes.SubSequence {
        var end = bytes.endIndex
        while end > bytes.startIndex {
            let previous = bytes.index(before: end)
            guard isBlank(bytes[previous]) else { break }
            end = previous
        }
        return bytes[..<end]
    }

    /// The first bytes of a text, up to the end of a character.
    /// - Parameter isCut: whether the text itself may end inside of a character, which then became U+FFFD.
    /// - Returns: nil when nothing is left.
    package static func beginning(of text: String, most: Int, isCut: Bool) -> String? {
        guard isCut || text.utf8.count > most else { return text }
        var bytes = Array(text.utf8)
        if isCut, bytes.suffix(3).elementsEqual([0xEF, 0xBF, 0xBD]) { bytes.removeLast(3) }
        if bytes.count > most {
            var end = most
            while end > 0, bytes[end] & 0xC0 == 0x80 { end -= 1 }
            bytes.removeSubrange(end...)
        }
        return utf8(bytes)
    }

    package static func isBlank(_ byte: UInt8) -> Bool {
        byte == 0 || byte == 0x20 || (0x09...0x0D).contains(byte)
    }

    private static func isValidUTF8(_ bytes: some Sequence<UInt8>) -> Bool {
        var decoder = UTF8()
        var iterator = bytes.makeIterator()
        while true {
            switch decoder.decode(&iterator) {
            case .scalarValue: continue
            case .emptyInput: return true
            case .error: return false
            }
        }
    }
}
