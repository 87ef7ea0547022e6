import Platform

#if hasFeature(Embedded)
    import Crypto
#endif

/// The certificates for verifying servers: those of the system's file and of a private authority together.
///
/// Thread: network, after `init`.
final class CertificateAuthorities {
    #if hasFeature(Embedded)
        private let files: [String]
        private var parsed: AuthorityChain?
    #else
        /// The certificates in PEM, followed by a 0.
        private let bytes: UnsafeMutableRawBufferPointer
    #endif

    private static let mark = Array("-----BEGIN CERTIFICATE-----".utf8)
    /// The maximum size of a file. Debian's file has a fifth of a megabyte.
    private static let limit = 8 << 20

    /// - Parameters:
    ///   - system: a file that may be missing: no server on the Internet is then trusted, but music still plays.
    ///   - extra: a file from the configuration.
    /// - Throws: when a file cannot be read or has no certificate in it.
    init(system: String, extra: String?) throws(NetworkSetupError) {
        let files = (FileKind(at: system) == nil ? [] : [system]) + (extra.map { [$0] } ?? [])
        let text = try Self.text(of: files)
        #if hasFeature(Embedded)
            // The text is dropped: a player without a network does not need it.
            self.files = files
        #else
            bytes = .allocate(byteCount: text.count, alignment: 1)
            bytes.copyBytes(from: text)
        #endif
    }

    #if !hasFeature(Embedded)
        deinit { bytes.deallocate() }
    #endif

    /// Returns the certificates in PEM, followed by a 0.
    private static func text(of files: [String]) throws(NetworkSetupError) -> [UInt8] {
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
        all.append(0)
        return all
    }

    private static func hasMark(_ text: [UInt8]) -> Bool {
        text.split(separator: UInt8(ascii: "\n")).contains { $0.starts(with: mark) }
    }

    #if hasFeature(Embedded)
        /// Returns the authorities, which are read and parsed for the first connection.
        /// - Returns: nil when mbedTLS can read no certificate, or a file can no longer be read. The next connection
        ///   tries again.
        func chain() -> AuthorityChain? {
            if let parsed { return parsed }
            do throws(NetworkSetupError) {
                let text = try Self.text(of: files)
                parsed = text.withUnsafeBytes { Self.chain(of: $0) }
            } catch {
                return nil
            }
            return parsed
        }

        private static func chain(of text: UnsafeRawBufferPointer) -> AuthorityChain? {
            do throws(CryptoError) { return try AuthorityChain(pem: text) } catch { return nil }
        }
    #else
        /// The certificates in PEM. Their address does not change.
        var text: UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: bytes.dropLast()) }
    #endif
}
