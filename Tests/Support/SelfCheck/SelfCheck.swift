import CLinux
import Crypto
import CryptoVectors

/// Checks the libraries that ship, on the machine that they are built for: the published vectors on its mbedTLS, then
/// the servers of tools/lib/tls-server.sh over its TLS. It prints a line for each check, `ok` or `FAILED` first.
///
///     self-check FOLDER
///
/// FOLDER is that of the servers. Exit codes: 0 all hold, 1 one does not, 2 no servers.
@main
struct SelfCheck {
    static func main() {
        let areVectorsGood = checkVectors()
        guard let folder = tonearm_argument(1), let servers = Servers(in: String(cString: folder)) else {
            print("FAILED no servers")
            exit(2)
        }
        let areServersGood = check(servers)
        exit(areVectorsGood && areServersGood ? 0 : 1)
    }

    private static func checkVectors() -> Bool {
        var isGood = true
        for vector in Vector.all {
            let failure: String?
            do throws(CryptoError) {
                failure = try vector.holds() ? nil : "another result"
            } catch {
                failure = error.description
            }
            isGood = report(vector.name, failure) && isGood
        }
        return isGood
    }

    private static func check(_ servers: Servers) -> Bool {
        var isGood = true
        for check in ServerChecks.all { isGood = report(check.name, check.failure(servers)) && isGood }
        return isGood
    }

    /// - Parameter failure: nil when the check holds.
    /// - Returns: whether it holds.
    private static func report(_ name: String, _ failure: String?) -> Bool {
        if let failure { print("FAILED \(name): \(failure)") } else { print("ok \(name)") }
        return failure == nil
    }
}
