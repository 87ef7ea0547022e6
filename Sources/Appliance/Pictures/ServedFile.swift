import HTTPServer
import Library
import Platform

extension ServedResource {
    /// A file that browsers revalidate at each use, and receive again only after a change.
    /// - Returns: nil when there is no such file, or it cannot be read.
    package init?(file path: String, contentType: String) {
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
