import CLinux
import Platform

/// An I2C bus, for reading registers.
public struct I2CBus: ~Copyable {
    /// The bus of the header's pins 3 and 5.
    public static let ofHeader = "/dev/i2c-1"

    private let file: File

    /// - Throws: ENOENT where the kernel's module `i2c-dev` is missing, EACCES.
    public init(_ path: String) throws(SystemError) { file = try File(updatingExisting: path) }

    /// Reads a register. It writes nothing but the number of the register, as every such reading does.
    /// - Returns: nil without an answer.
    public func read(_ address: UInt8, _ register: UInt8) -> UInt8? {
        let value = tonearm_i2c_read(file.descriptor, Int32(address), Int32(register))
        return value < 0 ? nil : UInt8(value)
    }
}
