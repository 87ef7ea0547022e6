/// The form of the system's reports in a `SystemFolder`: lines `key=value`. Lines that are not understood are ignored.
enum SystemReport {
    /// - Parameter take: called with the index of each known key, and with its value.
    static func read(_ report: [UInt8], _ keys: [String], _ take: (Int, ArraySlice<UInt8>) -> Void) {
        for line in report.split(separator: UInt8(ascii: "\n")) {
            guard let separator = line.firstIndex(of: UInt8(ascii: "=")),
                let index = keys.firstIndex(where: { $0.utf8.elementsEqual(line[..<separator]) })
            else { continue }
            take(index, line[(separator + 1)...])
        }
    }

    /// Returns the case with this word; nil when there is none.
    static func word<Word: CaseIterable & RawRepresentable>(
        _ bytes: ArraySlice<UInt8>, _ type: Word.Type = Word.self
    ) -> Word? where Word.RawValue == String {
        Word.allCases.first { $0.rawValue.utf8.elementsEqual(bytes) }
    }
}
