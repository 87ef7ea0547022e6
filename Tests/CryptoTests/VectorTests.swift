import Crypto
import CryptoVectors
import Testing

@Suite("Crypto: published vectors and forgeries")
struct VectorTests {
    @Test("The module gives the published results", arguments: Vector.all)
    func vector(_ vector: Vector) throws {
        #expect(try vector.holds())
    }
}

extension Vector: CustomTestStringConvertible {
    public var testDescription: String { name }
}
