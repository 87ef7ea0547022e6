import CLinux
import Platform

/// Fetches a bundle from a web server with BusyBox's wget, which the firmware image has. The bundle's signature is what
/// counts: where it comes from does not matter.
struct UpdateDownload {
    /// Where the bundle is kept until it is installed.
    let path: String
    private let address: String

    static func isURL(_ text: String) -> Bool {
        text.utf8.starts(with: "http://".utf8) || text.utf8.starts(with: "https://".utf8)
    }

    /// - Parameter root: the folder of the root file system; empty outside of tests.
    init(of address: String, root: String) {
        self.address = address
        path = root + "/data/system/update.download"
    }

    /// - Returns: whether all of it is here.
    func run(isQuiet: Bool) -> Bool {
        remove()
        return system("wget \(isQuiet ? "-q " : "")-O \(Self.quoted(path)) \(Self.quoted(address))") == 0
    }

    func remove() { _ = FileName.withBytes(of: path) { unlink($0) } }

    /// As one word for sh(1).
    static func quoted(_ text: String) -> String {
        var bytes: [UInt8] = [UInt8(ascii: "'")]
        for byte in text.utf8 {
            if byte == UInt8(ascii: "'") { bytes += "'\\'".utf8 }
            bytes.append(byte)
        }
        bytes.append(UInt8(ascii: "'"))
        return String(decoding: bytes, as: UTF8.self)
    }
}
