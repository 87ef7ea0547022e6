import CLinux
import Crypto
import CryptoVectors

/// Runs the published vectors on this machine's build of mbedTLS: a line for each, `ok` or `FAILED` first.
/// Exit codes: 0 all hold, 1 one does not.
@main
struct CryptoCheck {
    static func main() {
        var isGood = true
        for vector in Vector.all {
            let outcome: String
            do throws(CryptoError) {
                outcome = try vector.holds() ? "" : "another result"
            } catch {
                outcome = error.description
            }
            if outcome.isEmpty {
                print("ok \(vector.name)")
            } else {
                print("FAILED \(vector.name): \(outcome)")
                isGood = false
            }
        }
        exit(isGood ? 0 : 1)
    }
}
