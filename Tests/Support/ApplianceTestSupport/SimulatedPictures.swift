import Foundation
import Platform
import TestSupport
import Testing

@testable import Appliance

extension PictureProgram.Limits {
    /// On a busy machine the program may take long.
    package static var ofTests: PictureProgram.Limits {
        PictureProgram.Limits(request: 600_000_000_000, client: 600_000_000_000)
    }
}

/// A program in place of `tonearm-pictures` that does what a picture says (Tests/Support/PictureSimulator).
package struct SimulatedPictures {
    /// A request as the program has noted it.
    package struct Request: Equatable {
        package var process: Int
        package var side: Int
        package var offset: Int
        package var length: Int
        /// The descriptors that the program has.
        package var descriptors: [Int]
    }

    package let folder: String
    package var program: String { folder + "/tonearm-pictures" }

    /// - Parameter folder: made for it.
    package init(in folder: String) throws {
        self.folder = folder
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try FileManager.default.copyItem(atPath: TestProcess.path(of: "PictureSimulator"), toPath: program)
    }

    /// The requests so far.
    package var requests: [Request] {
        let text = (try? String(contentsOfFile: folder + "/requests", encoding: .utf8)) ?? ""
        return text.split(separator: "\n").map { line in
            let numbers = line.split(separator: " ").compactMap { Int($0) }
            return Request(
                process: numbers[0], side: numbers[1], offset: numbers[2], length: numbers[3],
                descriptors: Array(numbers.dropFirst(4)))
        }
    }

    /// Makes the pipe for which pictures with `G` wait.
    package func closeGate() { mkfifo(folder + "/gate", 0o600) }

    /// Lets one picture through, when the program waits.
    package func openGate() {
        expectSoon("the program waits at the gate") {
            let gate = open(folder + "/gate", O_WRONLY | O_NONBLOCK)
            if gate >= 0 { close(gate) }
            return gate >= 0
        }
    }

    /// A file that begins like a JPEG.
    package static func picture(_ code: UInt8, _ more: Int = 100) -> [UInt8] {
        [0xFF, 0xD8, 0xFF, code] + [UInt8](repeating: 7, count: more)
    }

    /// The thumbnail that the program makes.
    package static func thumbnail(_ side: Int) -> [UInt8] {
        [0xFF, 0xD8] + [UInt8](repeating: UInt8(truncatingIfNeeded: side), count: 196) + [0xFF, 0xD9]
    }
}
