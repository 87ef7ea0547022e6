// The service's names for the player's types. Only this file contains them.

/// Finds a value by its name, byte by byte.
private func named<Value>(_ name: String, _ table: [(String, Value)]) -> Value? {
    table.first { $0.0.utf8.elementsEqual(name.utf8) }?.1
}

extension AudioQuality {
    /// The name in requests, and in the stored configuration.
    package var serviceName: String {
        switch self {
        case .low: "LOW"
        case .high: "HIGH"
        case .lossless: "LOSSLESS"
        case .hiRes: "HI_RES"
        case .hiResLossless: "HI_RES_LOSSLESS"
        }
    }

    package init?(serviceName: String) {
        guard let quality = named(serviceName, Self.allCases.map { ($0.serviceName, $0) }) else { return nil }
        self = quality
    }
}

extension VideoQuality {
    /// The name in requests.
    package var serviceName: String {
        switch self {
        case .low: "LOW"
        case .medium: "MEDIUM"
        case .high: "HIGH"
        }
    }

    package init?(serviceName: String) {
        // A name of its own stands for requests of only the audio of a video.
        let names = Self.allCases.map { ($0.serviceName, $0) } + [("AUDIO_ONLY", VideoQuality.low)]
        guard let quality = named(serviceName, names) else { return nil }
        self = quality
    }
}

extension AudioMode {
    package var serviceName: String {
        switch self {
        case .stereo: "STEREO"
        case .sony360RA: "SONY_360RA"
        case .dolbyAtmos: "DOLBY_ATMOS"
        }
    }

    package init?(serviceName: String) {
        let all: [AudioMode] = [.stereo, .sony360RA, .dolbyAtmos]
        guard let mode = named(serviceName, all.map { ($0.serviceName, $0) }) else { return nil }
        self = mode
    }
}

extension AssetPresentation {
    package var serviceName: String {
        switch self {
        case .full: "FULL"
        case .preview: "PREVIEW"
        }
    }

    package init?(serviceName: String) {
        let all: [AssetPresentation] = [.full, .preview]
        guard let presentation = named(serviceName, all.map { ($0.serviceName, $0) }) else { return nil }
        self = presentation
    }
}

extension StreamType {
    package init?(serviceName: String) {
        guard let type = named(serviceName, [("ON_DEMAND", Self.onDemand), ("LIVE", .live)]) else { return nil }
        self = type
    }
}
