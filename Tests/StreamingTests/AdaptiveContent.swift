import Foundation
import PlayerTestSupport
import TestSupport

@testable import Fetching
@testable import Player

extension PackagedContent {
    /// Content on a line that was fast before, so the best representation is the first.
    static func onFastLine() throws -> PackagedContent {
        let content = try PackagedContent()
        content.throughput.add(bytes: 1 << 20, nanoseconds: 8_388_608)
        return content
    }

    /// A line that is slow at first, and fast from a request on, before which the next change may be made.
    func serve(fastFrom request: Int) {
        serve { [clock] count in
            if count == request { clock.advance(by: 5_000_000_000) }
            return count < request ? 300_000 : 50_000_000
        }
    }

    /// Changes the bit rates in a manifest: "low" gets a tenth of the bit rate of the other representation.
    /// The order of the representations in the manifest is not that of the files.
    static func bandwidths(_ manifest: String) -> String {
        manifest.components(separatedBy: "<Representation").map { part in
            guard part.contains("SegmentTemplate") else { return part }
            let value = part.contains("\"low/") ? "100000" : "1000000"
            return part.replacing(/bandwidth="\d+"/, with: "bandwidth=\"\(value)\"")
        }.joined(separator: "<Representation")
    }
}
