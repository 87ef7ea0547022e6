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
        for line in state.split(separator: UInt8(ascii: "\n")) {
            guard let separator = line.firstIndex(of: UInt8(ascii: "=")) else { continue }
            let (key, value) = (line[..<separator], line[(separator + 1)...])
            func isNamed(_ name: StaticString) -> Bool { name.withUTF8Buffer { key.elementsEqual($0) } }
            if isNamed("mode") {
                mode = Mode.allCases.first { $0.rawValue.utf8.elementsEqual(value) }
            } else if isNamed("ssid") {
                network = WiFiName(hexadecimal: value)
            } else if isNamed("access-point") {
                accessPoint = WiFiName(Array(value))?.text
            } else if isNamed("address") {
                address = Self.address(value)
            } else if isNamed("failed") {
                failed = WiFiName(hexadecimal: value)
            } else if isNamed("problem") {
                problem = Problem.allCases.first { $0.rawValue.utf8.elementsEqual(value) }
            }
        }
        failure = failed.map { Failure(network: $0, problem: problem) }
        self.networks = Self.lines(networks) { FoundWiFi($0) }
        self.known = Self.lines(known) { KnownWiFi($0) }
    }

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

    private static func lines<Row>(_ bytes: [UInt8], _ read: ([ArraySlice<UInt8>]) -> Row?) -> [Row] {
        var rows: [Row] = []
        for line in bytes.split(separator: UInt8(ascii: "\n")) where rows.count < networkLimit {
            if let row = read(line.split(separator: UInt8(ascii: " "))) { rows.append(row) }
        }
        return rows
    }
}

extension FoundWiFi {
    fileprivate init?(_ words: [ArraySlice<UInt8>]) {
        guard words.count == 3, let signal = Int(String(decoding: words[0], as: UTF8.self)),
            (-200...100).contains(signal), let name = WiFiName(hexadecimal: words[2])
        else { return nil }
        // A later system may know more kinds of security than this program.
        let security = Security.allCases.first { $0.rawValue.utf8.elementsEqual(words[1]) } ?? .other
        self.init(name: name, signal: signal, security: security)
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
