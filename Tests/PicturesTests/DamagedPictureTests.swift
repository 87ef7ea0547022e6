import Foundation
import PictureTestSupport
import TestSupport
import Testing

@testable import Pictures

@Suite("Damaged pictures", .enabled(if: EncodedPicture.canBeMade, "python3-pil is missing: run tools/setup"))
struct DamagedPictureTests {
    /// For each format; `tools/test --long damaged-pictures` has more of them, with a sanitizer.
    private static let count = ProcessInfo.processInfo.environment["TONEARM_DAMAGED_PICTURES"].flatMap(Int.init) ?? 20

    @Test("a damaged picture ends in a thumbnail or an error", arguments: ["jpeg", "png", "webp"])
    func damaged(format: String) throws {
        let pictures = try EncodedPicture.all().values.filter {
            $0.name.hasPrefix(format) && $0.file.count < 400_000
        }.sorted { $0.name < $1.name }
        var random = SeededRandom(UInt64(format.utf8.count))
        var outcomes: [PictureError?: Int] = [:]
        for number in 0..<Self.count {
            var file = pictures[number % pictures.count].file
            damage(&file, &random)
            do throws(PictureError) {
                let side = [64, 160, 320, 640][number % 4]
                let thumbnail = try Thumbnail(of: file, longestSide: side, memory: 60 << 20)
                #expect(max(thumbnail.width, thumbnail.height) <= side)
                outcomes[nil, default: 0] += 1
            } catch {
                outcomes[error, default: 0] += 1
            }
        }
        #expect(outcomes.values.reduce(0, +) == Self.count)
        // The damage reaches the decoders, and they notice it.
        #expect(outcomes[.damaged, default: 0] > 0)
    }

    /// Changes, removes or repeats some bytes, mostly of the header.
    private func damage(_ file: inout [UInt8], _ random: inout SeededRandom) {
        for _ in 0..<Int.random(in: 1...8, using: &random) {
            let limit = Bool.random(using: &random) ? min(file.count, 700) : file.count
            let index = Int.random(in: min(3, limit - 1)..<limit, using: &random)
            switch Int.random(in: 0..<8, using: &random) {
            case 0: file.removeLast(file.count - max(index, 4))
            case 1: file.removeSubrange(index..<min(file.count, index + 7))
            case 2: file.insert(contentsOf: file[index..<min(file.count, index + 40)], at: index)
            case 3: file[index] = 0xFF
            case 4: file[index] = 0
            default: file[index] = UInt8.random(in: 0...255, using: &random)
            }
        }
    }
}
