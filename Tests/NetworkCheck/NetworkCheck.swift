import CLinux
import Crypto

/// Asks the servers of tools/lib/tls-server.sh over the TLS that ships: a line for each check, `ok` or `FAILED` first.
/// The argument is their folder.
/// Exit codes: 0 all hold, 1 one does not, 2 no servers.
@main
struct NetworkCheck {
    private static let day = Int64(86_400)

    private static let isAESFast = CipherPreference.forThisProcessor == .aes

    private static let checks = [
        Check(name: "a file over TLS 1.3", server: "good", answers: [.file], path: "/file"),
        Check(name: "a file over TLS 1.2", server: "older", answers: [.file], path: "/file"),
        Check(
            name: "TLS 1.3, and a second connection resumes the session", server: "good",
            answers: [.text(". TLSv1.3"), .text("r TLSv1.3"), .text("r TLSv1.3")]),
        Check(
            name: "TLS 1.2, and a second connection resumes the session", server: "older",
            answers: [.text(". TLSv1.2"), .text("r TLSv1.2")]),
        Check(
            name: "an RSA key, of an authority on P-384, with TLS 1.3", server: "rsa", answers: [.text(". TLSv1.3")],
            authority: "modern"),
        Check(
            name: "an RSA key, of an authority on P-384, with TLS 1.2", server: "older-rsa",
            answers: [.text(". TLSv1.2")], authority: "modern"),
        Check(
            name: "a private authority beside those of the system", server: "good", answers: [.text(". TLSv1.3")],
            authority: "system", extra: "authority"),
        Check(
            name: "an unknown authority is refused", server: "unknown", answers: [.refused(.tls(.unknownAuthority))]),
        Check(
            name: "an unknown authority is refused with TLS 1.2", server: "older-unknown",
            answers: [.refused(.tls(.unknownAuthority))]),
        Check(
            name: "the system's authorities do not count for a private one", server: "good",
            answers: [.refused(.tls(.unknownAuthority))], authority: "system"),
        Check(name: "another host is refused", server: "other-host", answers: [.refused(.tls(.hostName))]),
        Check(name: "an expired certificate is refused", server: "past", answers: [.refused(.tls(.expired))]),
        Check(
            name: "a certificate whose time has not come is refused", server: "future",
            answers: [.refused(.tls(.notYetValid))]),
        Check(
            name: "a short RSA key is refused", server: "short-key", answers: [.badCertificate], authority: "modern"),
        Check(
            name: "a pinned key, also of a host that was there before", server: "good",
            answers: [.text(". TLSv1.3"), .text(". TLSv1.3")], pin: "good"),
        Check(
            name: "another key than the pinned one is refused", server: "good", answers: [.refused(.tls(.pin))],
            pin: "older"),
        Check(
            name: "a pin does not make an expired certificate good", server: "past",
            answers: [.refused(.tls(.expired))], pin: "past"),
        // The clock of this machine says that these have expired, or are to come: it does not count.
        Check(
            name: "a certificate that is valid at the trusted time, though the clock is ahead of it", server: "past",
            answers: [.text(". TLSv1.3")], now: 1_577_836_800 + 15 * day),
        Check(
            name: "a certificate that is valid at the trusted time, though the clock is behind it", server: "future",
            answers: [.text(". TLSv1.3")], now: 2_051_222_400 + 15 * day),
        Check(
            name: "a certificate that expired before the trusted time is refused", server: "good",
            answers: [.refused(.tls(.expired))], now: Int64(time(nil)) + 30 * day),
        Check(
            name: "a trusted time of 1970 accepts nothing", server: "good",
            answers: [.refused(.tls(.notYetValid))], now: 0),
        // A board whose clock is only the earliest possible time.
        Check(
            name: "while the time is not known: a certificate that begins later, and the server's date proves the time",
            server: "good", answers: [.text(". TLSv1.3")], now: 1_577_836_800, isProved: false, provesTime: true),
        Check(
            name: "while the time is not known no session is kept, afterwards they are", server: "good",
            answers: [.text(". TLSv1.3"), .text(". TLSv1.3"), .text("r TLSv1.3")], now: 0, isProved: false,
            provesTime: true),
        Check(
            name: "while the time is not known: expired at the server's own date is refused", server: "past",
            answers: [.refused(.tls(.expired)), .refused(.tls(.expired))], now: 1_577_836_800 + 15 * day,
            isProved: false),
        Check(
            name: "while the time is not known: not yet valid at the server's own date is refused", server: "future",
            answers: [.refused(.tls(.notYetValid))], now: 1_577_836_800, isProved: false),
        Check(
            name: "while the time is not known: expired before the earliest possible time is refused", server: "past",
            answers: [.refused(.tls(.expired))], now: 1_577_836_800 + 40 * day, isProved: false),
        Check(
            name: "while the time is not known: an unknown authority is refused", server: "unknown",
            answers: [.refused(.tls(.unknownAuthority))], now: 0, isProved: false),
        Check(
            name: "the cipher that is fast on this processor, with TLS 1.3", server: "good",
            answers: [.text(isAESFast ? "TLS_AES_128_GCM_SHA256" : "TLS_CHACHA20_POLY1305_SHA256")], path: "/cipher"),
        Check(
            name: "the cipher that is fast on this processor, with TLS 1.2", server: "older",
            answers: [.text(isAESFast ? "ECDHE-ECDSA-AES128-GCM-SHA256" : "ECDHE-ECDSA-CHACHA20-POLY1305")],
            path: "/cipher"),
        Check(name: "a server without TLS is refused", server: "plain", answers: [.noTLS]),
        Check(
            name: "a redirect is followed on a connection that resumes the session", server: "good",
            answers: [.text("r TLSv1.3")], path: "/moved"),
        Check(
            name: "a field that is too long", server: "good", answers: [.refused(.headTooLarge)], path: "/long-field"),
    ]

    static func main() {
        guard let folder = tonearm_argument(1), let servers = Servers(in: String(cString: folder)) else {
            print("FAILED no servers")
            exit(2)
        }
        var isGood = true
        for check in checks {
            if let failure = check.failure(servers) {
                print("FAILED \(check.name): \(failure)")
                isGood = false
            } else {
                print("ok \(check.name)")
            }
        }
        exit(isGood ? 0 : 1)
    }
}
