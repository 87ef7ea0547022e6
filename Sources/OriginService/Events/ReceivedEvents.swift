import Database
import Foundation
import Platform

/// The plays that players have reported, for the owner of an origin. The origin may be running meanwhile.
public struct ReceivedEvents: Sendable {
    /// The events as they have arrived, in their order.
    private let bodies: [JSONValue]

    /// - Throws: when no event has ever arrived, or the file cannot be read.
    public init(stateFolder: String) throws(ContentOrigin.Failure) {
        let path = "\(stateFolder)/events.db"
        guard FileKind(at: path) == .file else {
            throw ContentOrigin.Failure(
                description: "\(path): no player has sent events. Has tonearm-origin run with this --state?")
        }
        do throws(DatabaseError) {
            bodies = try EventStore(in: stateFolder).bodies(of: nil).compactMap { try? JSONValue.parse($0) }
        } catch {
            throw ContentOrigin.Failure(description: "\(path): \(error.description)")
        }
    }

    /// One line for each event, as it has arrived.
    public var json: String { bodies.map { $0.serialized() }.joined(separator: "\n") }

    /// One line for each play: when it began, for how long it was heard, the product, and the player.
    /// - Parameter title: returns the title of a product; nil when it is not known.
    public func text(_ title: (String) -> String?) -> String {
        let dates = ISO8601DateFormatter()
        let plays = bodies.filter { $0["payload"]?["playbackSessionId"] != nil }
        return plays.map { event in
            let payload = event["payload"]
            let started = Double(payload?["startTimestamp"]?.integer ?? 0) / 1000
            let id = payload?["actualProductId"]?.string ?? ""
            let heard = Int(min(Self.heard(payload), 1e9).rounded())
            let length = "\(heard / 60):\(heard % 60 < 10 ? "0" : "")\(heard % 60)"
            let client = event["client"]?["token"]?.string ?? ""
            let time = dates.string(from: Date(timeIntervalSince1970: started))
            let mark = event["tsIsEstimated"]?.boolean == true ? "~" : ""
            return "\(mark)\(time)\t\(length)\t\(shown(title(id) ?? "track \(id)"))\t\(shown(client))"
        }.joined(separator: "\n")
    }

    /// The text without control characters: a player, or a tag, may have sent any.
    private func shown(_ text: String) -> String {
        String(String.UnicodeScalarView(text.unicodeScalars.filter { $0.properties.generalCategory != .control }))
    }

    /// The seconds that were heard: the sum of the stretches between the actions.
    static func heard(_ payload: JSONValue?) -> Double {
        var (heard, start): (Double, Double?) = (0, payload?["startAssetPosition"]?.number ?? 0)
        for action in payload?["actions"]?.elements ?? [] {
            let position = action["assetPosition"]?.number ?? 0
            if action["actionType"]?.string == "PLAYBACK_START" {
                start = position
            } else if let begun = start {
                heard += max(0, position - begun)
                start = nil
            }
        }
        if let start { heard += max(0, (payload?["endAssetPosition"]?.number ?? start) - start) }
        return heard
    }
}
