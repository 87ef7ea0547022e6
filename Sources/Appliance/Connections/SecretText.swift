/// Comparison of secrets in a time that does not depend on where they differ.
package enum SecretText {
    package static func isEqual(_ given: String, _ secret: String) -> Bool {
        isEqual(Array(given.utf8), Array(secret.utf8))
    }

    package static func isEqual(_ given: [UInt8], _ secret: [UInt8]) -> Bool {
        var difference: UInt8 = given.count == secret.count ? 0 : 1
        for (index, byte) in secret.enumerated() {
            difference |= byte ^ (index < given.count ? given[index] : ~byte)
        }
        return difference == 0
    }
}
