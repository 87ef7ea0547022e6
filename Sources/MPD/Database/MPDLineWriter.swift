import Appliance
import CLinux
import Platform

/// Writes lines of an answer into memory that has room for them. Most of a long answer is such lines, so each byte is
/// written once and nothing is allocated.
///
///     output.lines(atMost: 36) { $0.lastModified(1_764_150_329) }    // Last-Modified: 2025-11-26T09:45:29Z
struct MPDLineWriter {
    private let memory: UnsafeMutableBufferPointer<UInt8>
    /// The bytes that are written.
    private(set) var count = 0

    init(_ memory: UnsafeMutableBufferPointer<UInt8>) { self.memory = memory }

    /// Returns the address of the next bytes, and counts them as written.
    @inline(__always)
    private mutating func take(_ count: Int) -> UnsafeMutablePointer<UInt8> {
        precondition(count <= memory.count - self.count, "the memory has no room for the line")
        // Safe: only empty memory has no address, and it has no room for a line.
        let place = memory.baseAddress! + self.count
        self.count += count
        return place
    }

    mutating func byte(_ letter: Unicode.Scalar) { take(1).pointee = UInt8(ascii: letter) }

    /// Adds bytes unchanged. Uses `memcpy`, because a loop that is compiled for size copies single bytes.
    mutating func bytes(_ start: UnsafePointer<UInt8>, _ count: Int) { memcpy(take(count), start, count) }

    mutating func word(_ word: StaticString) { bytes(word.utf8Start, word.utf8CodeUnitCount) }

    /// Adds `Key: `.
    mutating func key(_ key: StaticString) {
        word(key)
        let place = take(2)
        place[0] = UInt8(ascii: ":")
        place[1] = UInt8(ascii: " ")
    }

    mutating func endLine() { byte("\n") }

    /// Adds a line. Line ends in the value become blanks.
    mutating func line(_ key: StaticString, _ value: some Collection<UInt8>) {
        self.key(key)
        var place = take(value.count)
        for byte in value {
            place.pointee = byte == 0x0A || byte == 0x0D || byte == 0 ? UInt8(ascii: " ") : byte
            place += 1
        }
        endLine()
    }

    mutating func line(_ key: StaticString, _ value: Int64) {
        self.key(key)
        number(value)
        endLine()
    }

    /// Adds a number, of at most 20 bytes.
    /// - Parameter digits: the least number of digits.
    mutating func number(_ value: Int64, digits: Int = 1) {
        if value < 0 { byte("-") }
        var (rest, length) = (value.magnitude, 0)
        repeat {
            rest = Self.tenth(rest)
            length += 1
        } while rest > 0
        length = max(length, digits)
        let place = take(length)
        rest = value.magnitude
        for digit in 1...length {
            let next = Self.tenth(rest)
            place[length - digit] = 0x30 + UInt8(truncatingIfNeeded: rest - next * 10)
            rest = next
        }
    }

    private mutating func twoDigits(_ number: Int) {
        let place = take(2)
        let tens = Self.tenth(UInt64(number))
        place[0] = 0x30 + UInt8(truncatingIfNeeded: tens)
        place[1] = 0x30 + UInt8(truncatingIfNeeded: UInt64(number) - tens * 10)
    }

    /// Divides by ten. Multiplies, which takes a tenth of the time of the division that the compiler uses when it
    /// optimises for size.
    private static func tenth(_ number: UInt64) -> UInt64 {
        number <= 0xFFFF_FFFF ? (number &* 0xCCCC_CCCD) &>> 35 : number / 10
    }

    /// Adds seconds with three decimals.
    mutating func seconds(milliseconds: Int64) {
        number(milliseconds / 1000)
        byte(".")
        number(milliseconds % 1000, digits: 3)
    }

    /// The most bytes of `lastModified`.
    static let lastModifiedSize = 40

    /// Adds the line `Last-Modified: 2026-11-26T09:45:29Z`.
    /// - Parameter seconds: since 1970.
    mutating func lastModified(_ seconds: Int64) {
        key("Last-Modified")
        let date = CalendarTime.day(of: seconds)
        number(Int64(date.year))
        byte("-")
        twoDigits(date.month)
        byte("-")
        twoDigits(date.day)
        let time = Int(max(seconds, 0) % 86_400)
        byte("T")
        twoDigits(time / 3600)
        byte(":")
        twoDigits(time / 60 % 60)
        byte(":")
        twoDigits(time % 60)
        byte("Z")
        endLine()
    }
}

extension [UInt8] {
    /// Adds the lines that `write` writes, which have at most `limit` bytes.
    mutating func lines(atMost limit: Int, _ write: (inout MPDLineWriter) -> Void) {
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: limit) { memory in
            var writer = MPDLineWriter(memory)
            write(&writer)
            // Raw bytes are copied in one call.
            append(contentsOf: UnsafeRawBufferPointer(UnsafeBufferPointer(rebasing: memory[..<writer.count])))
        }
    }

    /// Adds a line. Line ends in the value become blanks.
    mutating func line(_ key: StaticString, _ value: some Collection<UInt8>) {
        lines(atMost: key.utf8CodeUnitCount + value.count + 3) { $0.line(key, value) }
    }

    mutating func line(_ key: StaticString, _ value: Int64) {
        lines(atMost: key.utf8CodeUnitCount + 23) { $0.line(key, value) }
    }

    /// Adds a number.
    /// - Parameter digits: the least number of digits, at most 20.
    mutating func number(_ value: Int64, digits: Int = 1) { lines(atMost: 20) { $0.number(value, digits: digits) } }

    /// Adds the line `Last-Modified: 2026-11-26T09:45:29Z`.
    /// - Parameter seconds: since 1970.
    mutating func lastModified(_ seconds: Int64) {
        lines(atMost: MPDLineWriter.lastModifiedSize) { $0.lastModified(seconds) }
    }
}
