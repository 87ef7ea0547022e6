import CLinux
import Platform

/// Fetches a bundle from a web server with BusyBox's wget, which the firmware image has. The bundle's signature is what
/// counts: where it comes from does not matter.
struct UpdateDownload {
    /// Where the bundle is kept until it is installed.
    let path: String
    private let folder: String
    private let address: String

    /// Why not all of it is here.
    enum Failure: Equatable {
        case cardIsFull, isNotSent

        /// - Parameter freeBytes: of the card, with what has come until then still on it. wget does not say more.
        init(freeBytes: Int64?) {
            self = if let freeBytes, freeBytes < UpdateDownload.leastRoom { .cardIsFull } else { .isNotSent }
        }
    }

    /// With less than this many free bytes, it was room that the download lacked.
    private static let leastRoom: Int64 = 1 << 20

    static func isURL(_ text: String) -> Bool {
        text.utf8.starts(with: "http://".utf8) || text.utf8.starts(with: "https://".utf8)
    }

    /// - Parameter root: the folder of the root file system; empty outside of tests.
    init(of address: String, root: String) {
        self.address = address
        folder = root + "/data/system"
        path = folder + "/update.download"
    }

    /// - Returns: nil when all of it is here.
    func run(isQuiet: Bool) -> Failure? {
        remove()
        if system("wget \(isQuiet ? "-q " : "")-O \(Self.quoted(path)) \(Self.quoted(address))") == 0 { return nil }
        var free: Int64?
        do throws(SystemError) { free = try Folder.freeBytes(at: folder) } catch { free = nil }
        return Failure(freeBytes: free)
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
