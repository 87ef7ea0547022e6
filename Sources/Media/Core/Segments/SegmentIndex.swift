/// A segment index: the lengths and durations of the parts of a file (`sidx`; ISO/IEC 14496-12, 8.16.3).
package struct SegmentIndex {
    /// Units per second of its times.
    package let timescale: UInt32
    /// The media time of the first part.
    package let earliestTime: Int64
    package let parts: [Part]

    package struct Part: Equatable {
        /// The range in the source, in bytes.
        package var range: Range<Int64>
        /// The duration in units of the index.
        package var duration: Int64
        /// Whether the part is another index, not media.
        package var isIndex: Bool
    }

    /// The duration in units of the index.
    package var duration: Int64 { parts.reduce(0) { $0 + $1.duration } }
}
