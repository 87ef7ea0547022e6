import Platform

/// The state of Wi-Fi for a user, from the reply to `wifi-status`.
enum WiFiText {
    static func lines(_ status: JSONValue) -> [String] {
        var lines = [state(status)]
        if let failed = status["failed"], let reason = failure(failed) {
            lines.append("The last attempt failed: " + reason)
        }
        for network in status["networks"]?.elements ?? [] { lines.append("  " + line(network)) }
        let known = (status["known"]?.elements ?? []).map { network in
            name(network) + (network["forgettable"]?.boolean == true ? "" : " (in the configuration)")
        }
        if !known.isEmpty { lines.append("Known networks: " + known.joined(separator: ", ")) }
        return lines
    }

    /// Returns why a network could not be joined; nil when there is no failure.
    static func failure(_ failed: JSONValue) -> String? {
        guard failed["ssid"]?.string != nil else { return nil }
        let reason =
            switch failed["problem"]?.string {
            case "wrong-password": "the password is wrong."
            case "not-found": "no such network is in range. For one that hides its name use --hidden."
            case "no-address": "the network has not given an address. Look at its router."
            case "refused": "the access point has refused the connection."
            default: "it could not be joined."
            }
        return name(failed) + ": " + reason
    }

    private static func state(_ status: JSONValue) -> String {
        let network = name(status)
        switch status["mode"]?.string {
        case "off": return "Wi-Fi is not connected."
        case "connecting": return "Looking for " + (network.isEmpty ? "a known network." : network + ".")
        case "connected": return "Connected to " + network + "."
        case "trying": return "Trying " + network + "."
        case "access-point":
            return "Waiting for the set-up: join the network "
                + DisplayText.visible(status["accessPoint"]?.string ?? "")
                + " with a phone, and open http://" + (status["address"]?.string ?? "") + "/ there."
        default: return "The system has not reported about Wi-Fi yet."
        }
    }

    /// `-57 dBm  wpa2       home`
    private static func line(_ network: JSONValue) -> String {
        column("\(network["signal"]?.integer ?? 0) dBm", 10) + column(network["security"]?.string ?? "", 11)
            + name(network)
    }

    private static func column(_ text: String, _ width: Int) -> String {
        text + String(repeating: " ", count: max(1, width - text.utf8.count))
    }

    private static func name(_ value: JSONValue) -> String { DisplayText.visible(value["ssid"]?.string ?? "") }
}
