import Platform

/// Why a sealed file cannot be read or written.
public enum SealedFileError: Error, Equatable, Sendable {
    case system(SystemError)
    /// The file is not as it was written.
    case damaged(CryptoError)
}

/// A file of sealed chunks. Any thread, one at a time.
final class SealedFile {
    private let file: File
    private var seal: SealedChunks

    /// Creates a file with its header.
    init(creating path: String, _ identity: [UInt8], _ key: borrowing SecretBytes) throws(SealedFileError) {
        file = try Self.open { () throws(SystemError) in try File(creating: path, mode: 0o600) }
        seal = try Self.seal { () throws(CryptoError) in try SealedChunks(newFor: identity, key: key) }
        try write(seal.header, at: 0)
    }

    init(
        opening path: String, _ identity: [UInt8], _ key: borrowing SecretBytes, toWrite: Bool = false
    ) throws(SealedFileError) {
        file = try Self.open { () throws(SystemError) in
            // A missing file is created: it then has no header, and opening fails.
            toWrite ? try File(updating: path, mode: 0o600) : try File(reading: path)
        }
        let header: [UInt8]
        do throws(SystemError) { header = try Self.header(of: file) } catch { throw .system(error) }
        seal = try Self.seal { () throws(CryptoError) in
            try SealedChunks(opening: header, identity: identity, key: key)
        }
    }

    private static func open(_ body: () throws(SystemError) -> File) throws(SealedFileError) -> File {
        do throws(SystemError) { return try body() } catch { throw .system(error) }
    }

    private static func seal(_ body: () throws(CryptoError) -> SealedChunks) throws(SealedFileError) -> SealedChunks {
        do throws(CryptoError) { return try body() } catch { throw .damaged(error) }
    }

    /// - Parameter count: the length of the chunk's content, in bytes.
    func read(_ chunk: Int64, count: Int, isLast: Bool) throws(SealedFileError) -> [UInt8] {
        guard let offset = SealedLayout.offset(ofChunk: chunk) else { throw .damaged(.notAuthentic) }
        var failure: SystemError?
        // Decrypts the chunk in place, because its bytes are the largest allocation while an offline copy plays.
        var bytes = [UInt8](unsafeUninitializedCapacity: count + SealedLayout.overhead) { memory, size in
            do throws(SystemError) {
                size = try self.file.read(into: UnsafeMutableRawBufferPointer(memory), at: offset)
            } catch {
                failure = error
            }
        }
        if let failure { throw .system(failure) }
        do throws(CryptoError) { try seal.open(inPlace: &bytes, chunk: chunk, isLast: isLast) } catch {
            throw .damaged(error)
        }
        return bytes
    }

    func write(_ content: UnsafeRawBufferPointer, as chunk: Int64, isLast: Bool) throws(SealedFileError) {
        guard let offset = SealedLayout.offset(ofChunk: chunk) else { throw .damaged(.notAuthentic) }
        let sealed: [UInt8]
        do throws(CryptoError) { sealed = try seal.seal(content, chunk: chunk, isLast: isLast) } catch {
            throw .damaged(error)
        }
        try write(sealed, at: offset)
    }

    private func write(_ bytes: [UInt8], at offset: Int64) throws(SealedFileError) {
        do throws(SystemError) {
            try bytes.withBytes { (bytes) throws(SystemError) in try file.write(bytes, at: offset) }
        } catch {
            throw .system(error)
        }
    }

    /// Returns whether the file has at least `chunks` full chunks.
    func hasFullChunks(_ chunks: Int64) throws(SealedFileError) -> Bool {
        do throws(SystemError) { return SealedLayout.fullChunks(inFileOf: try file.length()) >= chunks } catch {
            throw .system(error)
        }
    }

    /// Removes everything after the first `chunks` full chunks.
    func truncate(toChunks chunks: Int64) throws(SealedFileError) {
        guard let offset = SealedLayout.offset(ofChunk: chunks) else { throw .damaged(.notAuthentic) }
        do throws(SystemError) { try file.truncate(to: offset) } catch { throw .system(error) }
    }

    /// When this returns, the chunks and the file's name are on the medium.
    func synchronize() throws(SealedFileError) {
        do throws(SystemError) {
            try file.synchronize()
            try Folder.synchronize(containing: file.path)
        } catch {
            throw .system(error)
        }
    }

    private static func header(of file: borrowing File) throws(SystemError) -> [UInt8] {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: SealedLayout.headerCount, alignment: 16)
        defer { buffer.deallocate() }
        let size = try file.read(into: buffer, at: 0)
        return copiedBytes(UnsafeRawBufferPointer(rebasing: buffer[..<size]))
    }
}

extension [UInt8] {
    /// The standard library's function of this kind loses the type of the error.
    fileprivate func withBytes<Result, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try withUnsafeBufferPointer { (bytes) throws(Failure) in try body(UnsafeRawBufferPointer(bytes)) }
    }
}
