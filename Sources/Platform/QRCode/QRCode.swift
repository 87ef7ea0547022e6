/// A QR code (ISO/IEC 18004) in byte mode with the lowest error correction, because a screen has no smudges. Versions 1
/// to 6 hold 134 bytes, which is enough for an address.
public struct QRCode: Sendable {
    /// The parameters of a version with error correction level L (ISO/IEC 18004, table 9).
    private struct Version {
        let number: Int
        /// The data codewords in all blocks.
        let dataCount: Int
        /// The check codewords in each block.
        let checkCount: Int
        let blockCount: Int

        /// The most bytes of text: mode and length take 12 bits.
        var capacity: Int { dataCount - 2 }
        var size: Int { 17 + 4 * number }
    }

    private static let versions = [
        Version(number: 1, dataCount: 19, checkCount: 7, blockCount: 1),
        Version(number: 2, dataCount: 34, checkCount: 10, blockCount: 1),
        Version(number: 3, dataCount: 55, checkCount: 15, blockCount: 1),
        Version(number: 4, dataCount: 80, checkCount: 20, blockCount: 1),
        Version(number: 5, dataCount: 108, checkCount: 26, blockCount: 1),
        Version(number: 6, dataCount: 136, checkCount: 18, blockCount: 2),
    ]

    /// The number of modules of a side, without the quiet zone.
    public let size: Int
    private let matrix: QRMatrix

    /// - Returns: nil for more than 134 bytes.
    public init?(_ text: String) {
        let bytes = Array(text.utf8)
        guard let version = Self.versions.first(where: { bytes.count <= $0.capacity }) else { return nil }
        size = version.size
        matrix = QRMatrix(size: version.size, Self.codewords(bytes, version))
    }

    /// Whether a module is dark. Outside the code all modules are light.
    public func isDark(row: Int, column: Int) -> Bool {
        guard (0..<size).contains(row), (0..<size).contains(column) else { return false }
        return matrix[row, column]
    }

    /// Returns data and check codewords in the order of the symbol (ISO/IEC 18004, 7.6).
    private static func codewords(_ bytes: [UInt8], _ version: Version) -> [UInt8] {
        var data = data(bytes, count: version.dataCount)[...]
        let length = version.dataCount / version.blockCount
        let solomon = ReedSolomon(count: version.checkCount)
        var blocks: [(data: [UInt8], check: [UInt8])] = []
        while !data.isEmpty {
            let block = Array(data.prefix(length))
            data = data.dropFirst(length)
            blocks.append((block, solomon.checkCodewords(of: block)))
        }
        return (0..<length).flatMap { index in blocks.map { $0.data[index] } }
            + (0..<version.checkCount).flatMap { index in blocks.map { $0.check[index] } }
    }

    /// Returns the mode (0100), the length in 8 bits, the bytes, four zeros, and padding (ISO/IEC 18004, 7.4). The mode
    /// shifts all bytes by half a byte, and the zeros fill the last one.
    private static func data(_ bytes: [UInt8], count: Int) -> [UInt8] {
        var data: [UInt8] = []
        var half: UInt8 = 0b0100
        for byte in [UInt8(bytes.count)] + bytes {
            data.append(half << 4 | byte >> 4)
            half = byte & 0x0F
        }
        data.append(half << 4)
        for padding in 0..<(count - data.count) { data.append(padding % 2 == 0 ? 0xEC : 0x11) }
        return data
    }
}
