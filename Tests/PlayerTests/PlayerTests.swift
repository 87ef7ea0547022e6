import Foundation
import Media
import PCM
import Testing
import TestSupport

@testable import Player

@Suite("The player plays files")
struct PlayerTests {
    @Test("Two movements of one signal come out as the signal")
    func gapless() throws {
        let folder = try ScratchFolder()
        let signal = (0..<88_200).map { Int16(truncatingIfNeeded: $0 &* 2_654_435_761 >> 7) }
        let album = try Album(of: signal, channels: 2, rate: 44_100, cuts: [20_001], in: folder)
        let fixture = try PlayerFixture()
        fixture.card.playFreely()
        fixture.engine.load(album.products[0])
        fixture.engine.setNext(album.products[1])
        fixture.engine.play()
        fixture.wait(for: .idle)
        let recordings = fixture.card.recordings
        #expect(recordings.count == 1)
        #expect(recordings[0].samples == signal.map { Int32($0) << 16 })
    }
}

/// Movements cut out of one signal, encoded by `flac`.
struct Album {
    let products: [MediaProduct]

    /// - Parameter cuts: frames at which a new movement begins.
    init(of signal: [Int16], channels: Int, rate: Int, cuts: [Int], in folder: ScratchFolder) throws {
        var products: [MediaProduct] = []
        let frames = signal.count / channels
        let bounds = [0] + cuts + [frames]
        for (index, (start, end)) in zip(bounds, bounds.dropFirst()).enumerated() {
            let raw = folder["\(index).raw"]
            let data = signal[(start * channels)..<(end * channels)].withUnsafeBytes { Data($0) }
            try data.write(to: URL(fileURLWithPath: raw))
            let process = Process()
            process.executableURL = URL(fileURLWithPath: "/usr/bin/flac")
            process.arguments = [
                "-s", "-f", "--force-raw-format", "--endian=little", "--sign=signed", "--channels=\(channels)",
                "--bps=16", "--sample-rate=\(rate)", "-o", folder["\(index).flac"], raw,
            ]
            try process.run()
            process.waitUntilExit()
            products.append(
                MediaProduct(productType: .track, productId: folder["\(index).flac"], referenceId: "movement \(index)"))
        }
        self.products = products
    }
}
