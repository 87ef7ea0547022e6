import CLinux
import Platform

/// The slot to write: a partition, or a file in tests. It is closed when its owner ends.
struct UpdateSlot: ~Copyable {
    private let file: File

    init(_ path: String) throws(UpdateError) {
        // `File(updating:)` would create a file if the partition is missing.
        guard FileKind(at: path) != nil else { throw .unwritable(.last("open", path)) }
        do throws(SystemError) { file = try File(updating: path) } catch { throw .unwritable(error) }
    }

    var path: String { file.path }
    /// The size in bytes; nil where it is unknown.
    var size: Int64? {
        let end = lseek(file.descriptor, 0, SEEK_END)
        return end > 0 ? Int64(end) : nil
    }

    borrowing func write(_ bytes: [UInt8], at offset: Int64) throws(UpdateError) {
        let failure = bytes.withUnsafeBytes { all in
            do throws(SystemError) {
                try file.write(all, at: offset)
                return nil as SystemError?
            } catch {
                return error
            }
        }
        if let failure { throw .unwritable(failure) }
    }

    /// Blocks until the written bytes are on the medium.
    borrowing func synchronize() throws(UpdateError) {
        do throws(SystemError) { try file.synchronize() } catch { throw .unwritable(error) }
    }

    /// Drops cached bytes, so that later reads come from the medium.
    borrowing func forgetMemory() { _ = posix_fadvise(file.descriptor, 0, 0, POSIX_FADV_DONTNEED) }

    /// - Throws: when the bytes cannot be read, or the partition is too short.
    borrowing func read(count: Int, at offset: Int64) throws(UpdateError) -> [UInt8] {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: count, alignment: 1)
        defer { buffer.deallocate() }
        do throws(SystemError) {
            if try file.read(into: buffer, at: offset) == count { return Array(buffer) }
        } catch {
            throw .unwritable(error)
        }
        throw .worn(path: file.path)
    }
}
