import Platform

#if hasFeature(Embedded)
    import Crypto
#endif

/// The certificates that servers are verified against. Their files are read once, so that the file of the system and a
/// private authority count together.
///
/// Thread: network, after `init`.
final class CertificateAuthorities {
    /// In PEM, with a 0 after the last one.
    private let bytes: UnsafeMutableRawBufferPointer

    private static let mark = Array("-----BEGIN CERTIFICATE-----".utf8)
    /// Debian's file has a fifth of a megabyte.
    private static let limit = 8 << 20

    /// - Parameters:
    ///   - system: a file that may be missing: then no server on the Internet is trusted, and music plays all the same.
    ///   - extra: a file that the configuration names.
    /// - Throws: when a file cannot be read or has no certificate in it.
    init(system: String, extra: String?) throws(NetworkSetupError) {
        var all: [UInt8] = []
        let files = FileKind(at: system) == nil ? [] : [system]
        for file in files + (extra.map { [$0] } ?? []) {
            let text: [UInt8]
            do throws(SystemError) { text = try File.contents(of: file, limit: Self.limit) } catch {
                throw .authorities(error)
            }
            guard Self.hasMark(text) else { throw .noAuthority(file: file) }
            all += text
            all.append(UInt8(ascii: "\n"))
        }
        all.append(0)
        bytes = .allocate(byteCount: all.count, alignment: 1)
        bytes.copyBytes(from: all)
    }

    deinit { bytes.deallocate() }

    private static func hasMark(_ text: [UInt8]) -> Bool {
        text.split(separator: UInt8(ascii: "\n")).contains { $0.starts(with: mark) }
    }

    #if hasFeature(Embedded)
        /// Parsed when the first connection needs them; nil when mbedTLS understands none of them.
        private(set) lazy var chain: AuthorityChain? = {
            do throws(CryptoError) { return try AuthorityChain(pem: UnsafeRawBufferPointer(bytes)) } catch {
                return nil
            }
        }()
    #else
        /// In PEM. It stays where it is.
        var text: UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: bytes.dropLast()) }
    #endif
}
