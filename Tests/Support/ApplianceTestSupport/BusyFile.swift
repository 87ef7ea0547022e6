import Foundation
import Media
import Platform
import TestSupport

@testable import Playback
@testable import Player

/// A file with all its bytes, whose decoder does not progress: the call for the file's length returns only when the
/// test allows it. This wait is not one for the medium, and does not count as such.
package final class BusyFile: ByteSource {
    private let file: FileByteSource
    private let gate: Gate

    fileprivate init(_ file: FileByteSource, _ gate: Gate) {
        self.file = file
        self.gate = gate
    }

    package var length: Int64? {
        gate.pass()
        return file.length
    }

    package func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(ByteSourceError) -> ByteRead
    {
        try file.read(into: buffer, at: offset)
    }

    /// Holds the decoders of all files that it opens.
    package final class Gate: Sendable {
        private let arrivals = DispatchSemaphore(value: 0)
        private let isOpen = DispatchSemaphore(value: 0)

        package init() {}

        package var opening: LocalFiles.Opening {
            { [self] (path, cancellation) throws(SystemError) in
                BusyFile(try FileByteSource(path: path, cancellation: cancellation), self)
            }
        }

        /// Returns when a decoder is held.
        package func waitForDecoder() { arrivals.waitOrEndRun("a decoder") }

        /// Lets all decoders continue.
        package func open() { isOpen.signal() }

        fileprivate func pass() {
            arrivals.signal()
            isOpen.waitInTime()
            isOpen.signal()
        }
    }
}
