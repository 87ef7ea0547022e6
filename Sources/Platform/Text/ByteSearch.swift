import CLinux

/// The search of bytes in bytes, as fast as the C library has it. Any thread.
public enum ByteSearch {
    /// Returns whether `bytes` contain `part`; an empty part is in all bytes.
    public static func contains(_ part: [UInt8], in bytes: ArraySlice<UInt8>) -> Bool {
        if part.isEmpty { return true }
        return bytes.withUnsafeBufferPointer { bytes in
            guard let base = bytes.baseAddress else { return false }
            return tonearm_find(base, bytes.count, part, part.count) >= 0
        }
    }
}
