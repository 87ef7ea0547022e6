import CLinux
import Crypto

/// The questions to the servers of tools/lib/tls-server.sh, over the TLS that ships.
enum ServerChecks {
    private static let day = Int64(86_400)

    private static let isAESFast = CipherPreference.forThisProcessor == .aes

    static let all = [
        ServerCheck(name: "a file over TLS 1.3", server: "good", answers: [.file], path: "/file"),
        ServerCheck(name: "a file over TLS 1.2", server: "older", answers: [.file], path: "/file"),
        ServerCheck(
            name: "TLS 1.3, and a second connection resumes the session", server: "good",
            answers: [.text(". TLSv1.3"), .text("r TLSv1.3"), .text("r TLSv1.3")]),
        ServerCheck(
            name: "TLS 1.2, and a second connection resumes the session", server: "older",
            answers: [.text(". TLSv1.2"), .text("r TLSv1.2")]),
        ServerCheck(
            name: "an RSA key, of an authority on P-384, with TLS 1.3", server: "rsa", answers: [.text(". TLSv1.3")],
            authority: "modern"),
        ServerCheck(
            name: "an RSA key, of an authority on P-384, with TLS 1.2", server: "older-rsa",
            answers: [.text(". TLSv1.2")], authority: "modern"),
        ServerCheck(
            name: "a large RSA key", server: "large-rsa", answers: [.text(". TLSv1.3")], authority: "modern"),
        ServerCheck(name: "a key on P-384", server: "p384", answers: [.text(". TLSv1.3")]),
        ServerCheck(name: "a key on P-521, with TLS 1.3", server: "p521", answers: [.text(". TLSv1.3")]),
        ServerCheck(
            name: "a key on P-521, with TLS 1.2", server: "older-p521", answers: [.text(". TLSv1.2")],
            authority: "modern"),
        ServerCheck(name: "a key of Ed25519 is refused, with TLS 1.3", server: "ed25519", answers: [.noTLS]),
        ServerCheck(name: "a key of Ed25519 is refused, with TLS 1.2", server: "older-ed25519", answers: [.noTLS]),
        ServerCheck(name: "TLS 1.1 is refused", server: "oldest", answers: [.noTLS]),
        ServerCheck(
            name: "a private authority beside those of the system", server: "good", answers: [.text(". TLSv1.3")],
            authority: "system", extra: "authority"),
        ServerCheck(
            name: "an unknown authority is refused", server: "unknown", answers: [.refused(.tls(.unknownAuthority))]),
        ServerCheck(
            name: "an unknown authority is refused with TLS 1.2", server: "older-unknown",
            answers: [.refused(.tls(.unknownAuthority))]),
        ServerCheck(
            name: "the system's authorities do not count for a private one", server: "good",
            answers: [.refused(.tls(.unknownAuthority))], authority: "system"),
        ServerCheck(name: "another host is refused", server: "other-host", answers: [.refused(.tls(.hostName))]),
        ServerCheck(name: "an expired certificate is refused", server: "past", answers: [.refused(.tls(.expired))]),
        ServerCheck(
            name: "a certificate whose time has not come is refused", server: "future",
            answers: [.refused(.tls(.notYetValid))]),
        ServerCheck(
            name: "a short RSA key is refused", server: "short-key", answers: [.badCertificate], authority: "modern"),
        ServerCheck(
            name: "a pinned key, also of a host that was there before", server: "good",
            answers: [.text(". TLSv1.3"), .text(". TLSv1.3")], pin: "good"),
        ServerCheck(
            name: "another key than the pinned one is refused", server: "good", answers: [.refused(.tls(.pin))],
            pin: "older"),
        ServerCheck(
            name: "a pin does not make an expired certificate good", server: "past",
            answers: [.refused(.tls(.expired))], pin: "past"),
        // By the clock of this machine, these have expired or are not valid yet. That clock does not count.
        ServerCheck(
            name: "a certificate that is valid at the trusted time, though the clock is ahead of it", server: "past",
            answers: [.text(". TLSv1.3")], now: 1_577_836_800 + 15 * day),
        ServerCheck(
            name: "a certificate that is valid at the trusted time, though the clock is behind it", server: "future",
            answers: [.text(". TLSv1.3")], now: 2_051_222_400 + 15 * day),
        ServerCheck(
            name: "a certificate that expired before the trusted time is refused", server: "good",
            answers: [.refused(.tls(.expired))], now: Int64(time(nil)) + 30 * day),
        ServerCheck(
            name: "a trusted time of 1970 accepts nothing", server: "good",
            answers: [.refused(.tls(.notYetValid))], now: 0),
        // A board whose clock is only the earliest possible time.
        ServerCheck(
            name: "while the time is not known: a certificate that begins later, and the server's date proves the time",
            server: "good", answers: [.text(". TLSv1.3")], now: 1_577_836_800, isProved: false, provesTime: true),
        ServerCheck(
            name: "while the time is not known no session is kept, afterwards they are", server: "good",
            answers: [.text(". TLSv1.3"), .text(". TLSv1.3"), .text("r TLSv1.3")], now: 0, isProved: false,
            provesTime: true),
        ServerCheck(
            name: "while the time is not known: expired at the server's own date is refused", server: "past",
            answers: [.refused(.tls(.expired)), .refused(.tls(.expired))], now: 1_577_836_800 + 15 * day,
            isProved: false),
        ServerCheck(
            name: "while the time is not known: not yet valid at the server's own date is refused", server: "future",
            answers: [.refused(.tls(.notYetValid))], now: 1_577_836_800, isProved: false),
        ServerCheck(
            name: "while the time is not known: expired before the earliest possible time is refused", server: "past",
            answers: [.refused(.tls(.expired))], now: 1_577_836_800 + 40 * day, isProved: false),
        ServerCheck(
            name: "while the time is not known: an unknown authority is refused", server: "unknown",
            answers: [.refused(.tls(.unknownAuthority))], now: 0, isProved: false),
        ServerCheck(
            name: "the cipher that is fast on this processor, with TLS 1.3", server: "good",
            answers: [.text(isAESFast ? "TLS_AES_128_GCM_SHA256" : "TLS_CHACHA20_POLY1305_SHA256")], path: "/cipher"),
        ServerCheck(
            name: "the cipher that is fast on this processor, with TLS 1.2", server: "older",
            answers: [.text(isAESFast ? "ECDHE-ECDSA-AES128-GCM-SHA256" : "ECDHE-ECDSA-CHACHA20-POLY1305")],
            path: "/cipher"),
        ServerCheck(name: "a server without TLS is refused", server: "plain", answers: [.noTLS]),
        ServerCheck(
            name: "a redirect is followed on a connection that resumes the session", server: "good",
            answers: [.text("r TLSv1.3")], path: "/moved"),
        ServerCheck(
            name: "a field that is too long", server: "good", answers: [.refused(.headTooLarge)], path: "/long-field"),
    ]
}
