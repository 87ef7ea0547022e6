import CLinux
import Platform

/// The slot that is written: a partition, or a file of the tests. Ends with its owner.
struct UpdateSlot: ~Copyable {
    private let file: File

    init(_ path: String) throws(UpdateError) {
        // `File(updating:)` makes a file where the partition is missing.
        guard FileKind(at: path) != nil else { throw .unwritable(.last("open", path)) }
        do throws(SystemError) { file = try File(updating: path) } catch { throw .unwritable(error) }
    }

    var path: String { file.path }

    borrowing func write(_ bytes: [UInt8], at place: Int64) throws(UpdateError) {
        let failure = bytes.withUnsafeBytes { all in
            do throws(SystemError) {
                try file.write(all, at: place)
                return nil as SystemError?
            } catch {
                return error
            }
        }
        if let failure { throw .unwritable(failure) }
    }

    /// Blocks until what was written is on the medium.
    borrowing func synchronize() throws(UpdateError) {
        do throws(SystemError) { try file.synchronize() } catch { throw .unwritable(error) }
    }

    /// Has what follows read from the medium, and not from memory.
    borrowing func forgetMemory() { _ = posix_fadvise(file.descriptor, 0, 0, POSIX_FADV_DONTNEED) }

    /// - Throws: also when the partition ends before.
    borrowing func read(count: Int, at place: Int64) throws(UpdateError) -> [UInt8] {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: count, alignment: 1)
        defer { buffer.deallocate() }
        do throws(SystemError) {
            if try file.read(into: buffer, at: place) == count { return Array(buffer) }
        } catch {
            throw .unwritable(error)
        }
        throw .worn(path: file.path)
    }
}
