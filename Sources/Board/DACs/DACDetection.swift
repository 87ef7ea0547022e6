import Platform

/// How a DAC on the header was recognised.
public enum DACEvidence: String, Equatable, Sendable {
    case identifier = "uuid"
    case product
    /// Registers on the I2C bus.
    case registers = "read"
}

extension DACTable {
    /// Finds the DAC on the header: by the UUID of its EEPROM, else by its product name, else by its registers.
    ///
    /// A DAC that cannot be recognised is not guessed: the simplest of them have neither EEPROM nor registers, so any
    /// header could have one.
    /// - Parameters:
    ///   - identity: that of the EEPROM; nil without one.
    ///   - read: reads a register; nil without an answer. Each register is read once at most.
    public func find(
        _ identity: HATIdentity?, read: (_ address: UInt8, _ register: UInt8) -> UInt8?
    ) -> (dac: HeaderDAC, evidence: DACEvidence)? {
        if let identifier = identity?.identifier {
            let dac = dacs.first { $0.identifiers.contains { Self.areSame($0, identifier) } }
            if let dac { return (dac, .identifier) }
        }
        if let product = identity?.product {
            let dac = dacs.first { $0.products.contains { Self.areSame($0, product) } }
            if let dac { return (dac, .product) }
        }
        var answers: [(reading: RegisterReading, answer: UInt8?)] = []
        func holds(_ reading: RegisterReading) -> Bool {
            let known = answers.first {
                $0.reading.address == reading.address && $0.reading.register == reading.register
            }
            if let known { return reading.holds(known.answer) }
            let answer = read(reading.address, reading.register)
            answers.append((reading, answer))
            return reading.holds(answer)
        }
        let dac = dacs.first { dac in dac.readings.contains { $0.allSatisfy(holds) } }
        return dac.map { ($0, .registers) }
    }

    /// Without regard to case.
    private static func areSame(_ left: String, _ right: String) -> Bool {
        left.utf8.elementsEqual(right.utf8) { $0.lowercased == $1.lowercased }
    }
}
