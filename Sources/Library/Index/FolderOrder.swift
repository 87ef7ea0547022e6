/// The order of folders: each one is followed by its contents, and names are sorted without regard to case and accents.
///
/// Any thread.
package enum FolderOrder {
    /// The byte that ends a name. It sorts before all bytes of names.
    private static let end: UInt8 = 1
    /// The byte before the spelling of a name that has capitals or accents.
    private static let spelling: UInt8 = 2

    /// Returns bytes whose order is that of the folders. They begin with the bytes of the folder that contains this
    /// one.
    package static func place(of path: String) -> [UInt8] {
        var place: [UInt8] = []
        for name in path.utf8.split(separator: UInt8(ascii: "/")) { append(Array(name), to: &place) }
        return place
    }

    /// Returns the bytes of one name.
    package static func place(ofName name: String) -> [UInt8] {
        var place: [UInt8] = []
        append(Array(name.utf8), to: &place)
        return place
    }

    private static func append(_ name: [UInt8], to place: inout [UInt8]) {
        let start = place.count
        FoldedText.append(name[...], to: &place)
        if !place[start...].elementsEqual(name) {
            place.append(spelling)
            place += name
        }
        place.append(end)
    }
}
