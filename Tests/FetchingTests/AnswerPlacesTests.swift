import Media
import Network
import Platform
import PlayerTestSupport
import Testing

@testable import Fetching
@testable import Offline
@testable import Playback
@testable import Player
@testable import Streaming

@Suite("Every answer in every place: what it says about the product (docs/playback.md, 15.15)")
struct AnswerPlacesTests {
    /// The form of an answer's body.
    enum Form: CaseIterable {
        case service, serviceCode, otherJSON, otherLanguage, text, html, xml, empty, cut

        func body(_ status: Int) -> [UInt8] {
            let text =
                switch self {
                case .service, .cut: "{\"status\": \(status), \"subStatus\": 2001, \"userMessage\": \"not here\"}"
                case .serviceCode: "{\"subStatus\": 4033, \"userMessage\": \"not with this subscription\"}"
                case .otherJSON: "{\"error\": \"blocked\", \"message\": \"by the administrator of this network\"}"
                case .otherLanguage: "{\"メッセージ\": \"この番組は再生できません\"}"
                case .text: "Blocked by the administrator of this network."
                case .html: "<!DOCTYPE html><html><body>Please log in to this network.</body></html>"
                case .xml: "<?xml version=\"1.0\"?><Error><Code>AccessDenied</Code><Message>No</Message></Error>"
                case .empty: ""
                }
            return Array(self == .cut ? text.utf8.prefix(40) : text.utf8[...])
        }
    }

    /// The resource that is requested.
    enum Place: CaseIterable {
        case playbackInfo, manifest, segment, rangeOfSegment, restOfFile, key, download

        var isOfContent: Bool { self != .playbackInfo }
        /// Whether the first bytes show that they are no media.
        var refusesText: Bool { self == .segment || self == .rangeOfSegment || self == .download }

        fileprivate func begin(_ network: ScriptedNetwork, _ resource: RecordedResource) -> ResourceTransfer {
            var request = TransferRequest(url: "https://h/a")
            var offset: Int64 = 0
            switch self {
            case .playbackInfo, .manifest, .key: break
            case .segment, .download: request.isMedia = true
            case .rangeOfSegment: (request.range, request.isMedia) = (ByteRange(from: 20, upTo: 60), true)
            case .restOfFile: (request.isReadInParts, offset) = (true, 30)
            }
            return ResourceTransfer(
                request, from: offset, over: network, for: self == .download ? .offlining : .playback,
                continues: self != .playbackInfo && self != .manifest, into: resource)
        }

        /// How far the answer reaches; nil when it can be used, or when the transfer itself retries.
        fileprivate func reach(_ resource: RecordedResource) -> PlayerError.Reach? {
            guard let end = resource.ends.first else { return nil }
            if let failure = end {
                switch self {
                case .playbackInfo: return PlayerError(failure, AnswerPlacesTests.product).reach
                case .download: return OfflineFailure.resource(failure).error(AnswerPlacesTests.product)?.reach
                default: return PlayerError(.source(failure.byteSourceError), AnswerPlacesTests.product).reach
                }
            }
            switch self {
            case .playbackInfo:
                do throws(PlaybackInfo.Malformed) { _ = try PlaybackInfo(parsing: resource.bytes, .track) } catch {
                    return PlayerError(error, AnswerPlacesTests.product).reach
                }
            case .segment where resource.bytes.isEmpty: return PlayerError(.empty, AnswerPlacesTests.product).reach
            case .key:
                if resource.bytes.count != 16 {
                    return PlayerError(.license(reason: "no key"), AnswerPlacesTests.product).reach
                }
            case .manifest, .segment, .rangeOfSegment, .restOfFile, .download: break
            }
            return nil
        }
    }

    private static let product = MediaProduct(productType: .track, productId: "tonearm:track/7", referenceId: "r")

    /// - Returns: the reach that the rule demands; nil as in `Place.reach`.
    private static func expected(_ status: Int, _ form: Form, _ place: Place) -> PlayerError.Reach? {
        let isTemporary = status == 429 || status >= 500
        if form == .cut {
            // A cut answer is no answer, unless its beginning shows what it is.
            return [200, 203].contains(status) && place.refusesText ? .service : nil
        }
        if status == 416, place == .restOfFile { return nil }
        if [200, 203].contains(status) {
            // Only the receiver knows the form of other bytes, and how many there should be.
            switch place {
            case .playbackInfo, .segment, .key: return .service
            case .manifest, .restOfFile: return form == .html ? .service : nil
            case .rangeOfSegment, .download: return form == .empty ? nil : .service
            }
        }
        if isTemporary || status < 400 { return .service }
        // The login is refused, except for the service's reason of a product.
        if status == 401 {
            return form == .serviceCode && (!place.isOfContent || place == .download) ? .product : .service
        }
        if form == .service || form == .serviceCode { return .product }
        if [403, 404, 410].contains(status), place.isOfContent { return place == .download ? .service : .content }
        return .service
    }

    @Test(
        "Only the service's own code, or a missing resource, is about the product; else the service is away",
        arguments: Place.allCases)
    func reaches(place: Place) {
        for form in Form.allCases {
            for status in 100...599 {
                let (network, resource) = (ScriptedNetwork(), RecordedResource())
                network.server = { transfer in
                    transfer.begin(status)
                    if !form.body(status).isEmpty { transfer.deliver(form.body(status)) }
                    transfer.end(form == .cut ? .truncated : nil)
                }
                let transfer = place.begin(network, resource)
                for _ in 0..<10 where resource.ends.isEmpty { network.passDelays() }
                let (found, expected) = (place.reach(resource), Self.expected(status, form, place))
                #expect(found == expected, "\(status) \(form) in place of \(place)")
                // The transfer retries.
                if form == .cut, expected == nil { #expect(resource.ends.isEmpty, "\(status) in place of \(place)") }
                // A refusal by the service is never repeated.
                if expected == .product { #expect(network.transfers.count == 1) }
                transfer.cancel()
            }
        }
    }
}
