import TestSupport
import Testing

@testable import Pictures

@Suite("Scaling and turning pictures")
struct ScalingTests {
    @Test(
        "scales to the mean of each area",
        arguments: [
            (7, 5, 3, 2), (24, 32, 6, 8), (100, 3, 99, 3), (3, 100, 1, 33), (10, 10, 10, 10), (5, 4, 1, 1),
        ])
    func means(width: Int, height: Int, newWidth: Int, newHeight: Int) {
        var random = SeededRandom(UInt64(width))
        let pixels = (0..<width * height * 3).map { _ in UInt8.random(in: 0...255, using: &random) }
        let target = PixelSize(width: newWidth, height: newHeight)
        var scaler = AreaScaler(from: PixelSize(width: width, height: height), to: target)
        pixels.withUnsafeBufferPointer { pixels in
            for y in 0..<height {
                scaler.add(UnsafeBufferPointer(rebasing: pixels[y * width * 3..<(y + 1) * width * 3]))
            }
        }
        let bitmap = scaler.bitmap
        #expect(bitmap.pixels.count == target.count * 3)
        let (across, down) = (Double(width) / Double(newWidth), Double(height) / Double(newHeight))
        for y in 0..<newHeight {
            for x in 0..<newWidth {
                for component in 0..<3 {
                    var sum = 0.0
                    for row in 0..<height {
                        for column in 0..<width {
                            let weight =
                                overlap(Double(column), Double(x) * across, across)
                                * overlap(Double(row), Double(y) * down, down)
                            sum += weight * Double(pixels[(row * width + column) * 3 + component])
                        }
                    }
                    let mean = sum / (across * down)
                    let value = Double(bitmap.pixels[(y * newWidth + x) * 3 + component])
                    #expect(abs(value - mean) < 0.51, "(\(x), \(y))")
                }
            }
        }
    }

    /// The part of the pixel at `start` that lies in an area.
    private func overlap(_ start: Double, _ area: Double, _ length: Double) -> Double {
        max(0, min(start + 1, area + length) - max(start, area))
    }

    @Test("keeps white and black exact in the largest pictures", arguments: [UInt8(0), 255])
    func extremes(value: UInt8) {
        for size in [PixelSize(width: 65_535, height: 3), PixelSize(width: 3, height: 65_535)] {
            let row = [UInt8](repeating: value, count: size.width * 3)
            var scaler = AreaScaler(from: size, to: size.scaled(toLongestSide: 640))
            row.withUnsafeBufferPointer { row in for _ in 0..<size.height { scaler.add(row) } }
            #expect(scaler.rowCount == size.height)
            #expect(scaler.bitmap.pixels.allSatisfy { $0 == value })
        }
    }

    @Test(
        "a thumbnail has the picture's shape, and at most the longest side",
        arguments: [
            (3000, 3000, 160, 160), (3000, 2000, 160, 107), (2000, 3000, 107, 160), (160, 20, 160, 20),
            (161, 160, 160, 159), (65_535, 1, 160, 1), (65_535, 65_535, 160, 160),
        ])
    func sizes(width: Int, height: Int, newWidth: Int, newHeight: Int) {
        let size = PixelSize(width: width, height: height).scaled(toLongestSide: 160)
        #expect(size == PixelSize(width: newWidth, height: newHeight))
    }

    @Test("turns a picture as its orientation says", arguments: Orientation.allCases)
    func turning(orientation: Orientation) {
        // Two rows of three pixels: 1 2 3, 4 5 6.
        let stored = Bitmap(width: 3, height: 2, pixels: (1...6).flatMap { [$0, $0, $0] })
        let turned = stored.turned(orientation)
        let rows = stride(from: 0, to: turned.pixels.count, by: 3 * turned.width).map { start in
            (0..<turned.width).map { turned.pixels[start + 3 * $0] }
        }
        let expected: [[UInt8]] =
            switch orientation {
            case .upright: [[1, 2, 3], [4, 5, 6]]
            case .topRight: [[3, 2, 1], [6, 5, 4]]
            case .bottomRight: [[6, 5, 4], [3, 2, 1]]
            case .bottomLeft: [[4, 5, 6], [1, 2, 3]]
            case .leftTop: [[1, 4], [2, 5], [3, 6]]
            case .rightTop: [[4, 1], [5, 2], [6, 3]]
            case .rightBottom: [[6, 3], [5, 2], [4, 1]]
            case .leftBottom: [[3, 6], [2, 5], [1, 4]]
            }
        #expect(rows == expected)
    }

    @Test("reads the orientation of both byte orders, and ignores damaged metadata")
    func exif() {
        let little: [UInt8] = [0x49, 0x49, 42, 0, 8, 0, 0, 0, 1, 0, 0x12, 1, 3, 0, 1, 0, 0, 0, 6, 0, 0, 0]
        let big: [UInt8] = [0x4D, 0x4D, 0, 42, 0, 0, 0, 8, 0, 1, 1, 0x12, 0, 3, 0, 0, 0, 1, 0, 6, 0, 0]
        #expect(Exif(little[...]).orientation == .rightTop)
        #expect(Exif(big[...]).orientation == .rightTop)
        for count in 0..<20 { #expect(Exif(little.prefix(count)).orientation == .upright) }
        for (index, value) in [(0, 0), (3, 1), (7, 0xFF), (4, 0xFF), (8, 0), (12, 4), (18, 9), (19, 1)] {
            var damaged = little
            damaged[index] = UInt8(value)
            #expect(Exif(damaged[...]).orientation == .upright, "byte \(index)")
        }
    }
}
