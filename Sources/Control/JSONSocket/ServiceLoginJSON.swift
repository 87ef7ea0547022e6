import Appliance
import Platform
import Player

/// Requests about the login to the content service, and their reply, as JSON. `docs/control.md` documents them.
enum ServiceLoginJSON {
    // Safe: built once, never changed, and its closures capture nothing.
    nonisolated(unsafe) static let forms = [
        RequestForm("service-status", .music) { _ in .later(.serviceLogin(.status)) },
        RequestForm("service-login", .system) { _ in .later(.serviceLogin(.begin)) },
        RequestForm("service-cancel", .system) { _ in .later(.serviceLogin(.cancel)) },
        RequestForm("service-logout", .system) { _ in .later(.serviceLogin(.logOut)) },
    ]

    static func members(_ status: ServiceLoginStatus) -> [JSONValue.Member] {
        [
            .init("service", JSONValue(status.service)), .init("loggedIn", .boolean(status.isLoggedIn)),
            .init("prompt", status.prompt.map { value(of: $0) } ?? .null), .init("problem", JSONValue(status.problem)),
        ]
    }

    private static func value(of prompt: LoginPrompt) -> JSONValue {
        [
            "code": .string(prompt.code), "address": .string(prompt.address),
            "completeAddress": JSONValue(prompt.completeAddress), "seconds": .integer(prompt.life),
            "qr": QRCode(prompt.completeAddress ?? prompt.address).map { .array(rows(of: $0)) } ?? .null,
        ]
    }

    /// The rows of a code: `1` for each dark module, `0` for each light one.
    private static func rows(of code: QRCode) -> [JSONValue] {
        (0..<code.size).map { row in
            let modules = (0..<code.size).map { column in
                code.isDark(row: row, column: column) ? UInt8(ascii: "1") : UInt8(ascii: "0")
            }
            return .string(String(decoding: modules, as: UTF8.self))
        }
    }
}
