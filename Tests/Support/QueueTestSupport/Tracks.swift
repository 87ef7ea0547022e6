import Foundation
import Queue
import TestSupport

/// Files, of 1 kHz unless another rate is given. Every frame identifies itself: the left channel is the track's letter,
/// the right one the frame's number.
package final class Tracks {
    package static let rate = 1000
    package let folder: ScratchFolder

    package init() throws { folder = try ScratchFolder() }

    /// Tracks of equal length, up to 65,536 frames, for the letters of a word. An upper-case letter is a file that is
    /// no music, `?` one that does not exist.
    package func make(_ word: String, frames: Int, rate: Int = rate) throws -> [QueuedProduct] {
        try word.map { letter in
            let path = folder["\(letter == "?" ? "missing" : String(letter)).flac"]
            if letter.isUppercase {
                try Data("this is no music at all".utf8).write(to: URL(fileURLWithPath: path))
            } else if letter != "?" {
                try encode(letter, frames: frames, rate: rate, to: path)
            }
            return QueuedProduct(.track, path)
        }
    }

    private func encode(_ letter: Character, frames: Int, rate: Int, to path: String) throws {
        let samples = (0..<frames).flatMap { [UInt16(letter.asciiValue!), UInt16($0)] }
        try samples.withUnsafeBytes { Data($0) }.write(to: URL(fileURLWithPath: path + ".raw"))
        _ = try TestProcess.run(
            "/usr/bin/flac",
            [
                "-s", "-f", "--force-raw-format", "--endian=little", "--sign=signed", "--channels=2", "--bps=16",
                "--sample-rate=\(rate)", "-o", path, path + ".raw",
            ])
    }
}

/// The expected sound of the tracks of this word, played to the end.
package func sound(_ word: String, frames: Int = 4000) -> String {
    word.map { "\($0)0-\(frames)" }.joined(separator: " ")
}
