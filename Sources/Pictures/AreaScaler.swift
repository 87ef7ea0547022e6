/// Scales a picture down while its rows arrive: each new pixel is the mean of the area that it covers.
///
///     var scaler = AreaScaler(from: PixelSize(width: 3000, height: 2000), to: PixelSize(width: 160, height: 107))
///     for row in rows { scaler.add(row) }
///     scaler.bitmap
///
/// A pixel on the border of two areas counts for both, by the parts that lie in them. Results differ from exact ones by
/// less than a hundredth of a step. Memory: a few rows, and the result.
struct AreaScaler {
    let source: PixelSize
    let target: PixelSize
    /// How many rows have been added.
    private(set) var rowCount = 0
    private var pixels: [UInt8] = []
    /// The last row, scaled in width, in 256ths of a step.
    private var row: [UInt32]
    /// The sums of the rows of the present area, weighted by `target.height`.
    private var sums: [UInt32]
    /// The part of the current area that is still missing, where `source.height` stands for a whole area.
    private var missing: Int
    private let widthReciprocal: UInt64
    private let heightReciprocal: UInt64

    /// - Parameters:
    ///   - source: sides of 1 to 65,535 pixels.
    ///   - target: not larger than `source`.
    init(from source: PixelSize, to target: PixelSize) {
        self.source = source
        self.target = target
        row = Array(repeating: 0, count: target.width * 3)
        sums = Array(repeating: 0, count: target.width * 3)
        missing = source.height
        pixels.reserveCapacity(target.count * 3)
        widthReciprocal = Self.reciprocal(of: source.width)
        heightReciprocal = Self.reciprocal(of: source.height)
    }

    /// 1 / length in units of 2⁻⁴⁰, rounded to nearest.
    private static func reciprocal(of length: Int) -> UInt64 { ((1 << 40) + UInt64(length) / 2) / UInt64(length) }

    /// Adds the next row: three bytes for each pixel of the source.
    mutating func add(_ pixels: UnsafeBufferPointer<UInt8>) {
        guard rowCount < source.height else { return }
        rowCount += 1
        scaleWidth(pixels)
        var weight = target.height
        while weight > 0 {
            let part = min(weight, missing)
            for index in 0..<row.count { sums[index] &+= row[index] &* UInt32(part) }
            weight -= part
            missing -= part
            if missing == 0 { finishArea() }
        }
    }

    /// The result. Rows that were not added are white.
    var bitmap: Bitmap {
        let rest = [UInt8](repeating: 255, count: target.count * 3 - pixels.count)
        return Bitmap(width: target.width, height: target.height, pixels: pixels + rest)
    }

    private mutating func scaleWidth(_ pixels: UnsafeBufferPointer<UInt8>) {
        let (whole, size) = (UInt32(target.width), source.width)
        let reciprocal = widthReciprocal
        row.withUnsafeMutableBufferPointer { row in
            var index = 0
            /// The part of the pixel at `index` that belongs to areas before.
            var used: UInt32 = 0
            for x in 0..<target.width {
                var (red, green, blue): (UInt32, UInt32, UInt32) = (0, 0, 0)
                var missing = UInt32(size)
                while missing > 0 {
                    let weight = min(whole - used, missing)
                    red &+= UInt32(pixels[index]) &* weight
                    green &+= UInt32(pixels[index + 1]) &* weight
                    blue &+= UInt32(pixels[index + 2]) &* weight
                    missing -= weight
                    used += weight
                    if used == whole {
                        used = 0
                        index += 3
                    }
                }
                row[x * 3] = Self.mean(red, reciprocal)
                row[x * 3 + 1] = Self.mean(green, reciprocal)
                row[x * 3 + 2] = Self.mean(blue, reciprocal)
            }
        }
    }

    /// A sum of weighted steps as 256ths of a step.
    private static func mean(_ sum: UInt32, _ reciprocal: UInt64) -> UInt32 {
        UInt32(truncatingIfNeeded: (UInt64(sum) &* reciprocal &+ (1 << 31)) >> 32)
    }

    private mutating func finishArea() {
        for index in 0..<sums.count {
            let value = (UInt64(sums[index]) &* heightReciprocal &+ (1 << 47)) >> 48
            pixels.append(UInt8(min(value, 255)))
            sums[index] = 0
        }
        missing = source.height
    }
}
