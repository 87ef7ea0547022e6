/// The format of a picture, by its first bytes.
enum PictureFormat {
    case jpeg
    case png
    case webP

    init?(of file: [UInt8]) {
        if file.starts(with: [0xFF, 0xD8, 0xFF]) {
            self = .jpeg
        } else if file.starts(with: PNGChunks.signature) {
            self = .png
        } else if WebPChunks(file) != nil {
            self = .webP
        } else {
            return nil
        }
    }
}
