import ApplianceTestSupport
import Testing

@testable import Appliance

/// Fixtures of the suites about the configuration file.
protocol ConfigurationSuite {}

extension ConfigurationSuite {
    func parse(_ text: String) throws -> Configuration {
        try Configuration(parsing: Array(text.utf8), file: "tonearm.conf")
    }

    /// The problems of a text.
    func problems(_ text: String) -> [String] {
        let error = #expect(throws: Configuration.Problems.self) { try parse(text) }
        return error?.problems.map(\.description) ?? []
    }
}
