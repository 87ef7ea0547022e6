import Platform

/// The forms of the files in which the system reports about Wi-Fi (docs/decisions/set-up-without-a-screen.md). Lines
/// that are not understood are ignored.
extension WiFiStatus {
    /// The most networks of one list.
    static let networkLimit = 64

    /// - Parameters:
    ///   - state: lines `key=value`.
    ///   - networks: lines `SIGNAL SECURITY NAME`.
    ///   - known: lines `SOURCE NAME`.
    init(state: [UInt8], networks: [UInt8], known: [UInt8]) {
        var failed: WiFiName?
        var problem: Problem?
        SystemReport.read(state, Self.keys) { key, value in
            switch key {
            case 0: mode = SystemReport.word(value)
            case 1: network = WiFiName(hexadecimal: value)
            case 2: accessPoint = WiFiName(Array(value))?.text
            case 3: address = Self.address(value)
            case 4: failed = WiFiName(hexadecimal: value)
            default: problem = SystemReport.word(value)
            }
        }
        failure = failed.map { Failure(network: $0, problem: problem) }
        Self.eachLine(networks) { words in
            if self.networks.count < Self.networkLimit, let found = FoundWiFi(words) { self.networks.append(found) }
        }
        Self.eachLine(known) { words in
            if self.known.count < Self.networkLimit, let known = KnownWiFi(words) { self.known.append(known) }
        }
    }

    private static let keys = ["mode", "ssid", "access-point", "address", "failed", "problem"]

    /// Returns the address of the machine in its own network, from the file with the state; nil while there is none.
    static func address(inState state: [UInt8]) -> String? {
        WiFiStatus(state: state, networks: [], known: []).address
    }

    /// Returns a numeric IPv4 address. Browsers are sent to it.
    private static func address(_ bytes: ArraySlice<UInt8>) -> String? {
        let isPlain = bytes.allSatisfy {
            $0 == UInt8(ascii: ".") || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0)
        }
        let text = String(decoding: bytes, as: UTF8.self)
        return isPlain && StreamSocket.isNumericAddress(text) ? text : nil
    }

    private static func eachLine(_ bytes: [UInt8], _ take: ([ArraySlice<UInt8>]) -> Void) {
        for line in bytes.split(separator: UInt8(ascii: "\n")) { take(line.split(separator: UInt8(ascii: " "))) }
    }
}

extension FoundWiFi {
    fileprivate init?(_ words: [ArraySlice<UInt8>]) {
        guard words.count == 3, let signal = Int(String(decoding: words[0], as: UTF8.self)),
            (-200...100).contains(signal), let name = WiFiName(hexadecimal: words[2])
        else { return nil }
        // A newer system may report kinds of security that this program does not know.
        self.init(name: name, signal: signal, security: SystemReport.word(words[1]) ?? .other)
    }
}

extension KnownWiFi {
    fileprivate init?(_ words: [ArraySlice<UInt8>]) {
        guard words.count == 2, let name = WiFiName(hexadecimal: words[1]) else { return nil }
        let isOfPage = words[0].elementsEqual("page".utf8)
        guard isOfPage || words[0].elementsEqual("file".utf8) else { return nil }
        self.init(name: name, canBeForgotten: isOfPage)
    }
}
