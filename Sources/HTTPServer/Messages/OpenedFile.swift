import Platform

/// A file that several answers may send. Any thread.
/// `@unchecked Sendable` is safe because the descriptor never changes and is only read from at offsets.
package final class OpenedFile: @unchecked Sendable {
    package let file: File
    /// The size in bytes when it was opened.
    package let size: Int64

    package init(_ path: String) throws(SystemError) {
        file = try File(reading: path)
        size = try file.length()
    }
}
