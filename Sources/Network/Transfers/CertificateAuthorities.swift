import Platform

/// The certificates that servers are verified against, in PEM. They are read once, so that the file of the system and a
/// private authority count together.
final class CertificateAuthorities: Sendable {
    // Constant after `init`, and freed by `deinit`: safe for any thread.
    nonisolated(unsafe) let bytes: UnsafeRawBufferPointer

    private static let mark = Array("-----BEGIN CERTIFICATE-----".utf8)
    /// Debian's file has a fifth of a megabyte.
    private static let limit = 8 << 20

    /// - Throws: when a file cannot be read or has no certificate in it.
    init(files: [String]) throws(NetworkSetupError) {
        var all: [UInt8] = []
        for file in files {
            let text: [UInt8]
            do throws(SystemError) { text = try File.contents(of: file, limit: Self.limit) } catch {
                throw .authorities(error)
            }
            guard Self.hasMark(text) else { throw .noAuthority(file: file) }
            all += text
            all.append(UInt8(ascii: "\n"))
        }
        let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: all.count, alignment: 1)
        copy.copyBytes(from: all)
        bytes = UnsafeRawBufferPointer(copy)
    }

    deinit { bytes.deallocate() }

    private static func hasMark(_ text: [UInt8]) -> Bool {
        text.split(separator: UInt8(ascii: "\n")).contains { $0.starts(with: mark) }
    }
}
