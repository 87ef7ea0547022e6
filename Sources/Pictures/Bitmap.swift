/// The pixels of a picture: red, green and blue, 8 bits each, row by row without gaps.
struct Bitmap: Equatable {
    let width: Int
    let height: Int
    var pixels: [UInt8]

    /// The picture turned and mirrored.
    func turned(_ orientation: Orientation) -> Bitmap {
        if orientation == .upright { return self }
        let (width, height) = orientation.swapsSides ? (height, self.width) : (self.width, height)
        var turned: [UInt8] = []
        turned.reserveCapacity(pixels.count)
        for y in 0..<height {
            for x in 0..<width {
                let source = orientation.source(x, y, PixelSize(width: width, height: height))
                let index = (source.y * self.width + source.x) * 3
                turned.append(pixels[index])
                turned.append(pixels[index + 1])
                turned.append(pixels[index + 2])
            }
        }
        return Bitmap(width: width, height: height, pixels: turned)
    }
}

/// How the stored pixels are to be turned (EXIF 2.32, tag 0x0112). The cases say where the stored first row and first
/// column are seen.
enum Orientation: UInt16, CaseIterable {
    case upright = 1
    case topRight
    case bottomRight
    case bottomLeft
    case leftTop
    case rightTop
    case rightBottom
    case leftBottom

    var swapsSides: Bool { rawValue >= Self.leftTop.rawValue }

    /// The stored pixel that is seen at (x, y) of a turned picture with this size.
    func source(_ x: Int, _ y: Int, _ turned: PixelSize) -> (x: Int, y: Int) {
        let (right, bottom) = (turned.width - 1, turned.height - 1)
        return switch self {
        case .upright: (x, y)
        case .topRight: (right - x, y)
        case .bottomRight: (right - x, bottom - y)
        case .bottomLeft: (x, bottom - y)
        case .leftTop: (y, x)
        case .rightTop: (y, right - x)
        case .rightBottom: (bottom - y, right - x)
        case .leftBottom: (bottom - y, x)
        }
    }
}
