import HTTPServer
import Library
import Platform

/// The files of the page, from a folder.
struct PageFiles: Sendable {
    /// An absolute path.
    let folder: String

    private static let types: [(ending: String, type: String)] = [
        (".html", "text/html; charset=utf-8"), (".css", "text/css; charset=utf-8"),
        (".js", "text/javascript; charset=utf-8"), (".svg", "image/svg+xml"), (".png", "image/png"),
        (".webmanifest", "application/manifest+json"),
    ]

    /// Returns the file of a path; nil when there is none.
    /// - Parameter path: a path of a URL: `/style.css`; `/` is the page itself.
    func resource(at path: String) -> ServedResource? {
        let name =
            path.utf8.elementsEqual("/".utf8) ? "index.html" : String(decoding: path.utf8.dropFirst(), as: UTF8.self)
        // A name is that of a file in the folder itself, and no hidden one.
        guard name.utf8.first != UInt8(ascii: "."), !name.utf8.contains(UInt8(ascii: "/")),
            let type = Self.types.first(where: { name.utf8.suffix($0.ending.utf8.count).elementsEqual($0.ending.utf8) })
        else { return nil }
        return ServedResource(file: "\(folder)/\(name)", contentType: type.type)
    }
}

extension ServedResource {
    /// A file that a browser asks for again each time, and gets again when it has changed.
    /// - Returns: nil when there is no such file, or it cannot be read.
    init?(file path: String, contentType: String) {
        guard let stamp = FileStamp(of: path) else { return nil }
        do throws(SystemError) {
            let file = try OpenedFile(path)
            self.init(
                body: ContentBody([.file(file, 0..<file.size)]), contentType: contentType,
                entityTag: "\"\(stamp.text)\"", lastModified: stamp.modifiedSeconds, cacheControl: "no-cache")
        } catch {
            return nil
        }
    }
}
