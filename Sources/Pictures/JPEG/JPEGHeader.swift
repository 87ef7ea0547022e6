/// The part of a JPEG file that says how much memory its decoder needs, and how it is to be turned (ITU-T T.81, B.2).
struct JPEGHeader {
    private(set) var size = PixelSize(width: 0, height: 0)
    private(set) var orientation = Orientation.upright
    /// Whether the decoder stores all coefficients before the first pixel: progressive files, and those whose
    /// components come one after the other.
    private(set) var isBuffered = false
    private var components: [Component] = []

    /// How often the component is sampled in the area of one unit.
    private struct Component {
        let horizontal: Int
        let vertical: Int
    }

    private enum Marker {
        static let endOfImage: UInt8 = 0xD9
        static let startOfScan: UInt8 = 0xDA
        static let application1: UInt8 = 0xE1
        /// Without a length: TEM, RST0 to RST7, SOI.
        static func isBare(_ code: UInt8) -> Bool { code == 0x01 || (0xD0...0xD8).contains(code) }
        /// SOF0 to SOF15, without DHT, JPG and DAC.
        static func isFrame(_ code: UInt8) -> Bool {
            (0xC0...0xCF).contains(code) && code != 0xC4 && code != 0xC8 && code != 0xCC
        }
        /// SOF2, SOF6, SOF10, SOF14.
        static func isProgressive(_ code: UInt8) -> Bool { code & 3 == 2 }
    }

    /// Reads up to the first scan.
    /// - Throws: `.damaged` when there is no scan, or the file has been cut after it.
    init(_ file: [UInt8]) throws(PictureError) {
        var offset = 2
        while true {
            // Bytes between two segments are ignored, as decoders do.
            while offset < file.count, file[offset] != 0xFF { offset += 1 }
            while offset < file.count, file[offset] == 0xFF { offset += 1 }
            guard offset < file.count else { throw .damaged }
            let code = file[offset]
            offset += 1
            if code == 0 || Marker.isBare(code) { continue }
            guard code != Marker.endOfImage, offset + 2 <= file.count else { throw .damaged }
            let length = Int(file[offset]) << 8 | Int(file[offset + 1])
            guard length >= 2, length <= file.count - offset else { throw .damaged }
            let content = file[offset + 2..<offset + length]
            offset += length
            if Marker.isFrame(code) {
                try readFrame(content, isProgressive: Marker.isProgressive(code))
            } else if code == Marker.application1 {
                readMetadata(content)
            } else if code == Marker.startOfScan {
                guard !components.isEmpty, let count = content.first else { throw .damaged }
                if Int(count) < components.count { isBuffered = true }
                break
            }
        }
        guard Self.hasEnd(file[offset...]) else { throw .damaged }
    }

    var componentCount: Int { components.count }

    /// The bytes of all coefficients: 64 of 16 bits for each block of 8 × 8 samples.
    var coefficientBytes: Int64 {
        let mostHorizontal = components.map({ $0.horizontal }).max() ?? 1
        let mostVertical = components.map({ $0.vertical }).max() ?? 1
        let columns = (size.width + 8 * mostHorizontal - 1) / (8 * mostHorizontal)
        let rows = (size.height + 8 * mostVertical - 1) / (8 * mostVertical)
        var blocks: Int64 = 0
        for component in components {
            blocks += Int64(columns * component.horizontal) * Int64(rows * component.vertical)
        }
        return blocks * 128
    }

    private mutating func readFrame(_ content: ArraySlice<UInt8>, isProgressive: Bool) throws(PictureError) {
        let bytes = [UInt8](content)
        guard components.isEmpty, bytes.count >= 6, bytes.count >= 6 + 3 * Int(bytes[5]), (1...4).contains(bytes[5])
        else { throw .damaged }
        size = PixelSize(width: Int(bytes[3]) << 8 | Int(bytes[4]), height: Int(bytes[1]) << 8 | Int(bytes[2]))
        isBuffered = isProgressive
        for index in 0..<Int(bytes[5]) {
            let sampling = bytes[7 + 3 * index]
            let component = Component(horizontal: Int(sampling >> 4), vertical: Int(sampling & 15))
            guard (1...4).contains(component.horizontal), (1...4).contains(component.vertical) else { throw .damaged }
            components.append(component)
        }
    }

    private mutating func readMetadata(_ content: ArraySlice<UInt8>) {
        let name: [UInt8] = [0x45, 0x78, 0x69, 0x66, 0, 0]
        if content.starts(with: name) { orientation = Exif(content.dropFirst(name.count)).orientation }
    }

    /// Whether the scans end: these two bytes are nowhere else in them. The decoder would fill up a cut file with grey.
    private static func hasEnd(_ scans: ArraySlice<UInt8>) -> Bool {
        var index = scans.endIndex - 1
        while index > scans.startIndex {
            if scans[index] == Marker.endOfImage, scans[index - 1] == 0xFF { return true }
            index -= 1
        }
        return false
    }
}
