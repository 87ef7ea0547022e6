import Appliance
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

    /// Returns the file of a path such as `/style.css`; `/` is the page itself. Clients that accept gzip get the
    /// compressed form beside it, `style.css.gz`, unless the file was changed since.
    /// - Returns: nil when there is no such file.
    func resource(for request: HTTPRequest) -> ServedResource? {
        let path = request.path.utf8
        let name =
            path.elementsEqual("/".utf8) ? "index.html" : String(decoding: path.dropFirst(), as: UTF8.self)
        // Allows only names of files directly in the folder that are not hidden.
        guard name.utf8.first != UInt8(ascii: "."), !name.utf8.contains(UInt8(ascii: "/")),
            let type = Self.types.first(where: { name.utf8.suffix($0.ending.utf8.count).elementsEqual($0.ending.utf8) })
        else { return nil }
        let file = "\(folder)/\(name)"
        var resource = request.acceptsGzip ? Self.compressed(file, type.type) : nil
        if resource == nil { resource = ServedResource(file: file, contentType: type.type) }
        resource?.dependsOnCoding = true
        return resource
    }

    private static func compressed(_ file: String, _ contentType: String) -> ServedResource? {
        let path = file + ".gz"
        guard let original = FileStamp(of: file), let stamp = FileStamp(of: path),
            stamp.modifiedSeconds == original.modifiedSeconds,
            var resource = ServedResource(file: path, contentType: contentType)
        else { return nil }
        resource.contentCoding = "gzip"
        return resource
    }
}
