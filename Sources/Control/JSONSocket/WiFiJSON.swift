import Appliance
import Platform

/// Requests about Wi-Fi, and their reply, as JSON. `docs/control.md` documents them.
enum WiFiJSON {
    // Safe: built once, never changed, and its closures capture nothing.
    nonisolated(unsafe) static let forms = [
        RequestForm("wifi-status", .wifi) { _ in .later(.wifi(.status)) },
        RequestForm("wifi-scan", .wifi) { _ in .later(.wifi(.scan)) },
        RequestForm("wifi-connect", .wifi, ["ssid", "password", "hidden"]) { fields throws(RequestMistake) in
            .later(
                .wifi(
                    .connect(
                        WiFiTrial(
                            name: try name(fields), password: try password(fields),
                            isHidden: try fields.boolean("hidden") ?? false))))
        },
        RequestForm("wifi-forget", .wifi, ["ssid"]) { fields throws(RequestMistake) in
            .later(.wifi(.forget(try name(fields))))
        },
    ]

    private static func name(_ fields: RequestFields) throws(RequestMistake) -> WiFiName {
        let allowed = "the name of a network, of 1 to \(WiFiName.lengthLimit) bytes"
        guard let name = WiFiName(text: try fields.text("ssid", allowed)) else {
            throw .notAllowed(field: "ssid", allowed: allowed)
        }
        return name
    }

    private static func password(_ fields: RequestFields) throws(RequestMistake) -> [UInt8]? {
        guard fields.has("password") else { return nil }
        let allowed = WiFiTrial.passwordForm
        let bytes = Array(try fields.text("password", allowed).utf8)
        guard WiFiTrial.isPassword(bytes) else { throw .notAllowed(field: "password", allowed: allowed) }
        return bytes
    }

    // MARK: The reply

    static func members(_ status: WiFiStatus) -> [JSONValue.Member] {
        [
            .init("mode", JSONValue(status.mode?.rawValue)), .init("waiting", .boolean(status.isWaiting)),
            .init("ssid", JSONValue(status.network?.text)), .init("accessPoint", JSONValue(status.accessPoint)),
            .init("address", JSONValue(status.address)), .init("failed", status.failure.map { value(of: $0) } ?? .null),
            .init("networks", .array(status.networks.map { value(of: $0) })),
            .init("known", .array(status.known.map { value(of: $0) })),
        ]
    }

    private static func value(of failure: WiFiStatus.Failure) -> JSONValue {
        ["ssid": .string(failure.network.text), "problem": JSONValue(failure.problem?.rawValue)]
    }

    private static func value(of network: FoundWiFi) -> JSONValue {
        [
            "ssid": .string(network.name.text), "signal": JSONValue(network.signal),
            "security": .string(network.security.rawValue),
        ]
    }

    private static func value(of network: KnownWiFi) -> JSONValue {
        ["ssid": .string(network.name.text), "forgettable": .boolean(network.canBeForgotten)]
    }
}
