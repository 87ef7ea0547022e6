import Platform

/// The program and the machine that events name.
package struct EventDevice: Equatable, Sendable {
    /// The machine's architecture: "aarch64".
    package var hardwarePlatform: String
    package var operatingSystem: String
    package var operatingSystemVersion: String
    /// The name of `[service] client`.
    package var client: String
    /// The version of the program.
    package var version: String

    package init(
        hardwarePlatform: String, operatingSystem: String, operatingSystemVersion: String, client: String,
        version: String
    ) {
        self.hardwarePlatform = hardwarePlatform
        self.operatingSystem = operatingSystem
        self.operatingSystemVersion = operatingSystemVersion
        self.client = client
        self.version = version
    }

    /// The payload of `streaming_session_start`. There is no screen, and no mobile network type is known.
    func sessionStart(_ start: SessionStart) -> JSONValue {
        [
            "streamingSessionId": .string(start.id), "timestamp": .integer(start.time.milliseconds),
            "isOfflineModeStart": .boolean(start.isOfflineMode), "startReason": .string(start.reasonName),
            "hardwarePlatform": .string(hardwarePlatform), "operatingSystem": .string(operatingSystem),
            "operatingSystemVersion": .string(operatingSystemVersion), "screenWidth": 0, "screenHeight": 0,
            "networkType": .string(start.isOfflineMode ? "NONE" : start.link.name), "mobileNetworkType": "NA",
            "sessionType": start.kind == .playback ? "PLAYBACK" : "DOWNLOAD",
            "sessionProductType": .string(start.typeName), "sessionProductId": .string(start.productId),
        ]
    }

    /// Returns the event as one JSON text, as it is stored and sent. It names no user and has no token: the request
    /// that carries it is authorised.
    package func envelope(of event: PlayerEvent) -> String {
        var envelope: JSONValue = [
            "group": .string(event.group), "version": .integer(Int64(event.version)), "ts": .integer(event.time),
            "uuid": .string(event.id),
            "client": [
                "token": .string(client), "version": .string(version), "platform": .string(operatingSystem),
                "deviceType": "embedded",
            ],
            "payload": event.payload,
        ]
        if event.isTimeEstimated { envelope["tsIsEstimated"] = true }
        if !event.extras.isEmpty {
            let names = event.extras.keys.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
            envelope["extras"] = .object(names.map { .init($0, JSONValue(event.extras[$0])) })
        }
        return envelope.serialized()
    }
}

extension SessionStart.Link {
    fileprivate var name: String {
        switch self {
        case .none: "NONE"
        case .ethernet: "ETHERNET"
        case .wifi: "WIFI"
        case .cellular: "MOBILE"
        case .other: "OTHER"
        }
    }
}
