import Platform

/// The outcome of a request to the system about Wi-Fi, as a value: replies to `wifi-status` in, verdicts out.
struct WiFiAttempt {
    /// How long the system may take to begin a request, and to join a network, in seconds. It tries a network for up to
    /// 40 s.
    static let beginLimit = 15.0
    static let joinLimit = 90.0

    enum Verdict: Equatable {
        case waits
        case done
        case failed(String)
    }

    /// The network to join; nil for another request, which is done when it has begun.
    let network: String?

    /// - Parameter seconds: the time since the request.
    func verdict(_ status: JSONValue, after seconds: Double) -> Verdict {
        if status["waiting"]?.boolean == true {
            if seconds < Self.beginLimit { return .waits }
            return .failed("the system has not begun in \(Int(Self.beginLimit)) seconds: does its part of Wi-Fi run?")
        }
        guard let network else { return .done }
        func isMeant(_ value: JSONValue?) -> Bool { value?["ssid"]?.string?.utf8.elementsEqual(network.utf8) == true }
        if isMeant(status["failed"]), let reason = status["failed"].flatMap({ WiFiText.failure($0) }) {
            return .failed(reason)
        }
        if status["mode"]?.string == "connected", isMeant(status) { return .done }
        if seconds < Self.joinLimit { return .waits }
        return .failed("no outcome after \(Int(Self.joinLimit)) seconds. `tonearm wifi` shows the state.")
    }
}
