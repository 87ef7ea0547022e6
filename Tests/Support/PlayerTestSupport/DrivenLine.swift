import Manifests
import Media
import Network
import Platform
import TestSupport

@testable import Fetching
@testable import Playback
@testable import Player
@testable import Streaming

/// A network whose bit rate is a function of the time. Time passes when a test moves it.
///
/// Thread: the test's.
// @unchecked: one thread.
package final class DrivenLine: ServiceNetwork, @unchecked Sendable {
    /// A request, and its times.
    package struct Request {
        package var url: String
        package var begin: Double
        /// The time of its end; nil while it is running, and when it was cancelled.
        package var end: Double?
    }

    // @unchecked: one thread.
    private final class Transferring: OngoingTransfer, @unchecked Sendable {
        let number: Int
        let sink: any TransferSink
        let url: String
        var left: Int
        /// Seconds until the answer.
        var wait: Double
        var isOver = false
        var isPaused = false
        var hasBegun = false

        init(_ number: Int, _ url: String, _ sink: any TransferSink, _ size: Int, _ wait: Double) {
            (self.number, self.url, self.sink, self.left, self.wait) = (number, url, sink, size, wait)
        }

        func cancel() {
            guard !isOver else { return }
            isOver = true
            sink.ended(.cancelled)
        }

        func resume() { isPaused = false }
    }

    /// The bytes of one delivery, at most.
    private static let bytes = [UInt8](repeating: 0, count: 16_384)

    package let clock = ManualClock()
    package private(set) var requests: [Request] = []
    package private(set) var received = 0
    private let rate: (Double) -> Double
    private let size: (String) -> Int
    private let roundTrip: Double
    private var running: [Transferring] = []
    /// Bits that the line has carried and no transfer has.
    private var credit = 0.0
    /// How many of them a shaped line lets pass at once after a pause.
    private let burst: Double

    /// - Parameters:
    ///   - burst: how many bytes a line that is shaped by a token bucket lets pass at once after a pause.
    ///   - rate: bits per second, by the seconds since the beginning.
    ///   - size: of a resource, in bytes.
    package init(
        roundTrip: Double = 0.05, burst: Int = 0, rate: @escaping (Double) -> Double, size: @escaping (String) -> Int
    ) {
        (self.rate, self.size, self.roundTrip) = (rate, size, roundTrip)
        (self.burst, credit) = (Double(burst) * 8, Double(burst) * 8)
    }

    package var seconds: Double { Double(clock.now()) / 1e9 }

    package func begin(_ request: TransferRequest, into sink: any TransferSink) -> any OngoingTransfer {
        let transfer = Transferring(requests.count, request.url, sink, size(request.url), roundTrip)
        requests.append(Request(url: request.url, begin: seconds))
        running.append(transfer)
        return transfer
    }

    package func schedule(after nanoseconds: Int64, _ action: @escaping @Sendable () -> Void) {}
    package func waitForLink(atMost nanoseconds: Int64, _ action: @escaping @Sendable (LinkWaitEnd) -> Void) {}

    package func advance(by step: Double) {
        clock.advance(by: Int64(step * 1e9))
        running.removeAll { $0.isOver }
        let active = running.filter { !$0.isPaused }
        for transfer in active where !transfer.hasBegun {
            transfer.wait -= step
            guard transfer.wait <= 0 else { continue }
            transfer.hasBegun = true
            transfer.sink.began(
                ResponseHead(
                    status: 200, headers: [HeaderField("Content-Length", "\(transfer.left)")],
                    effectiveURL: transfer.url))
        }
        let flowing = active.filter { $0.hasBegun && !$0.isOver }
        guard !flowing.isEmpty else { return credit = min(burst, credit + rate(seconds) * step) }
        credit += rate(seconds) * step
        // As packets come.
        while credit >= 11_200, let transfer = flowing.first(where: { !$0.isOver && !$0.isPaused }) {
            for transfer in flowing where !transfer.isOver && !transfer.isPaused && credit >= 8 { deliver(transfer) }
            if transfer.isPaused { continue }
        }
    }

    private func deliver(_ transfer: Transferring) {
        let count = min(transfer.left, Int(credit / 8), Self.bytes.count)
        let answer = Self.bytes.withUnsafeBytes {
            transfer.sink.received(UnsafeRawBufferPointer(rebasing: $0[..<count]))
        }
        guard answer == .more else { return transfer.isPaused = true }
        credit -= Double(count) * 8
        transfer.left -= count
        received += count
        guard transfer.left == 0, !transfer.isOver else { return }
        transfer.isOver = true
        requests[transfer.number].end = seconds
        transfer.sink.ended(nil)
    }
}

/// Plays content of several representations over a driven line, with the player's steering and its rule for when to
/// begin. The decoder is replaced: a segment has the duration in the manifest, and its bytes are read evenly.
///
/// Thread: the test's.
package final class DrivenPlayback {
    /// A run of segments that was heard without a change.
    package struct Heard {
        package var bandwidth: Int
        package var segments: [Int]
        /// When the request for its first segment began and ended, in seconds.
        package var requested: Double
        package var arrived: Double
    }

    package let line: DrivenLine
    package let throughput: Throughput
    package private(set) var heard: [Heard] = []
    /// Seconds until the first sound.
    package private(set) var start: Double?
    /// Seconds without sound after that.
    package private(set) var silence = 0.0
    private let bandwidths: [Int]
    private let segment: Double
    private let count: Int
    private let medium: MediumAccess

    /// - Parameter segment: the length of segments, in seconds.
    package init(
        _ bandwidths: [Int], segment: Double, seconds: Double = 240, roundTrip: Double = 0.05, burst: Int = 0,
        rate: @escaping (Double) -> Double
    ) {
        (self.bandwidths, self.segment) = (bandwidths, segment)
        count = Int(seconds / segment)
        line = DrivenLine(roundTrip: roundTrip, burst: burst, rate: rate) { url in
            // https://content/BANDWIDTH/NUMBER
            let parts = url.split(separator: "/")
            return Int(Double(parts[2])! * segment / 8)
        }
        throughput = Throughput(clock: line.clock)
        medium = MediumAccess(clock: line.clock)
    }

    private func candidates() throws -> [AdaptiveSteering.Candidate] {
        let text =
            "<MPD mediaPresentationDuration=\"PT\(Int(Double(count) * segment))S\"><Period>"
            + "<AdaptationSet contentType=\"audio\"><SegmentTemplate media=\"$Bandwidth$/$Number$\" "
            + "duration=\"\(Int(segment * 1000))\" timescale=\"1000\" startNumber=\"0\"/>"
            + bandwidths.map { "<Representation id=\"r\($0)\" bandwidth=\"\($0)\" codecs=\"flac\"/>" }.joined()
            + "</AdaptationSet></Period></MPD>"
        let layout = try ContentLayout(
            Manifest(Array(text.utf8), format: .dash, url: "https://content/a.mpd"), quality: nil)
        let requests = ServiceRequests(
            network: line, purpose: .playback, cancellation: try Cancellation(), medium: medium)
        let fetching = StreamedSegments.Fetching(
            network: line, medium: medium, throughput: throughput, readAhead: 16 << 20)
        return layout.parts[0].representations.map { representation in
            AdaptiveSteering.Candidate(bandwidth: representation.bandwidth ?? 0, needsLead: false) {
                (_) throws(MediaError) in
                try PreparedContent(
                    representation, clip: nil, fetching, requests, StreamedKeys(requests, licenseURL: nil))
            }
        }
    }

    /// Plays to the end, at most four times as long as the content lasts.
    package func play(step: Double = 0.04) throws {
        let candidates = try candidates()
        let place = RepresentationChoice(bandwidths: bandwidths).first(
            line: throughput.bitsPerSecond, usable: bandwidths.map { _ in true })
        let content = try candidates[place].prepare(.rounds(0))
        content.prepare()
        let steering = AdaptiveSteering(candidates, beginningWith: place, content, throughput, medium.stream)
        defer { steering.end() }
        var (index, offset, isPlaying) = (0, 0.0, false)
        var source: (any ByteSource)?
        while index < count, line.seconds < 4 * Double(count) * segment {
            line.advance(by: step)
            steering.fetchAhead()
            if !isPlaying {
                let buffered = medium.stream.buffered
                let missing = Double(count - index) * segment - offset - buffered.seconds
                isPlaying = buffered.isEnough(missing: missing, bitsPerSecond: throughput.bitsPerSecond)
                if isPlaying { start = start ?? line.seconds } else if start != nil { silence += step }
                if !isPlaying { continue }
            }
            switch try read(steering, index, offset + step, &source) {
            case .read:
                note(steering.current.place, index)
                offset += step
                if offset >= segment - 1e-6 { (index, offset, source) = (index + 1, 0, nil) }
            case .notYet: (isPlaying, silence) = (false, silence + step)
            case .other: source = nil
            }
        }
        if index < count { throw Unexpected("not over after \(line.seconds) s, at segment \(index)") }
    }

    private enum Reading { case read, notYet, other }

    /// Reads a segment of the current run up to a moment of it.
    private func read(
        _ steering: AdaptiveSteering, _ index: Int, _ moment: Double, _ source: inout (any ByteSource)?
    ) throws -> Reading {
        guard let segments = steering.current.content.segments else { throw Unexpected("no segments") }
        source = try source ?? segments.segment(index)
        guard let open = source else {
            guard steering.takeNext() != nil else { throw Unexpected("no segment \(index)") }
            return .other
        }
        let size = Double(bandwidths[steering.current.place]) * segment / 8
        let last = Int64(max(0, min(size, size * moment / segment) - 1))
        var byte = [UInt8](repeating: 0, count: 1)
        do {
            let read = try byte.withUnsafeMutableBytes { try open.read(into: $0, at: last) }
            return read == .notYet ? .notYet : .read
        } catch let error as ByteSourceError {
            guard error == .cancelled, steering.takeNext() != nil else { throw error }
            return .other
        }
    }

    private func note(_ place: Int, _ index: Int) {
        let bandwidth = bandwidths[place]
        if let last = heard.last, last.bandwidth == bandwidth {
            if last.segments.last != index { heard[heard.count - 1].segments.append(index) }
            return
        }
        let request = line.requests.last { $0.url.hasSuffix("/\(bandwidth)/\(index)") }
        heard.append(
            Heard(
                bandwidth: bandwidth, segments: [index], requested: request?.begin ?? 0,
                arrived: request?.end ?? request?.begin ?? 0))
    }

    /// The mean bandwidth of the segments that were heard.
    package var meanBandwidth: Double {
        heard.reduce(0) { $0 + Double($1.bandwidth) * Double($1.segments.count) } / Double(count)
    }

    /// The shortest time between two changes, in seconds. The way back up from a drop may come after two segments.
    package var shortestInterval: Double {
        let places = heard.indices.dropFirst().dropLast().filter { place in
            let (before, run, after) = (heard[place - 1], heard[place], heard[place + 1])
            let isWayBack = before.bandwidth > run.bandwidth && after.bandwidth > run.bandwidth
            return !isWayBack || run.segments.count < 2
        }
        return places.map { heard[$0 + 1].arrived - heard[$0].arrived }.min() ?? .infinity
    }

    /// How many segments were heard before the best representation; nil when it was never heard.
    package var segmentsBeforeBest: Int? {
        guard let place = heard.firstIndex(where: { $0.bandwidth == bandwidths.last }) else { return nil }
        return heard[..<place].reduce(0) { $0 + $1.segments.count }
    }
}
