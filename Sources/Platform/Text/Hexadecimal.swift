/// Two lower-case digits for each byte.
public func hexadecimal(_ bytes: some Sequence<UInt8>) -> String {
    var text: [UInt8] = []
    for byte in bytes {
        text.append(hexadecimalDigit(byte >> 4))
        text.append(hexadecimalDigit(byte & 15))
    }
    return String(decoding: text, as: UTF8.self)
}

/// The digit for a value from 0 to 15, in ASCII.
private func hexadecimalDigit(_ value: UInt8) -> UInt8 {
    value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10
}
