import OutputTestSupport
import Testing

extension PacedCard {
    /// The frames that were heard over all openings of the device. `a0-4000 b100-200` means the first track from the
    /// beginning up to frame 4000, then the second one from frame 100 up to 200.
    package var heard: String {
        var runs: [(letter: UInt16, start: Int, end: Int)] = []
        let samples = recordings.flatMap(\.samples).map { UInt16(truncatingIfNeeded: $0 >> 16) }
        for index in stride(from: 0, to: samples.count, by: 2) {
            let (letter, frame) = (samples[index], Int(samples[index + 1]))
            if let last = runs.last, last.letter == letter, last.end == frame {
                runs[runs.count - 1].end += 1
            } else {
                runs.append((letter, frame, frame + 1))
            }
        }
        return runs.map { "\(Character(UnicodeScalar($0.letter)!))\($0.start)-\($0.end)" }.joined(separator: " ")
    }

    /// The first frame of each run of sound: `a0 b100`.
    package var beginnings: String {
        heard.split(separator: " ").map { $0.prefix { $0 != "-" } }.joined(separator: " ")
    }

    /// Continues until this has been heard. Frames of the earlier entry may be heard before it. Records what was heard
    /// instead.
    package func play(until expected: String, sourceLocation: SourceLocation = #_sourceLocation) -> Bool {
        for _ in 0..<100 {
            if beginnings == expected { return true }
            play(100, sourceLocation: sourceLocation)
        }
        Issue.record("heard \(beginnings), not \(expected)", sourceLocation: sourceLocation)
        return false
    }
}
