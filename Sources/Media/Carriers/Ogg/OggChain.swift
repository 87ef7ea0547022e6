import PCM

/// The offsets of the links of a chain and their frames, as far as the source was read.
///
/// Frames are counted at the rate of the first link.
struct OggChain {
    struct Entry {
        /// The offset of the first page.
        var offset: Int64
        var sampleRate: Int
        /// The number of the first frame.
        var startFrame: Int64
        /// The number of frames at the link's own rate; nil while it is not known.
        var frameCount: Int64?
        /// The offset of the first byte after it; nil while it is not known.
        var end: Int64?
        /// The granule position at the end.
        var endTime: Int64?
    }

    private(set) var entries: [Entry]
    /// Whether the last link is the last one of the source.
    var isWhole = false

    /// The most links in the chain: more than a day of songs. Links after these are found by reading.
    private static let mostLinks = 4096

    init(_ link: OggLink) {
        entries = [Entry(offset: link.offset, sampleRate: link.content.format.sampleRate, startFrame: 0)]
    }

    var count: Int { entries.count }

    subscript(_ number: Int) -> Entry { entries[number] }

    /// The number of frames of all links; nil when it is not known.
    var frameCount: Int64? { isWhole ? frame(after: entries.count - 1) : nil }

    /// The first frame after a link; nil when its length is not known.
    func frame(after number: Int) -> Int64? {
        entries[number].frameCount.map { entries[number].startFrame + frames($0, from: number) }
    }

    /// The last link that begins at a frame or before it.
    func number(of frame: Int64) -> Int { entries.lastIndex { $0.startFrame <= frame } ?? 0 }

    /// Stores where a link ends.
    mutating func close(_ number: Int, frameCount: Int64, end: Int64?, endTime: Int64?) {
        entries[number].frameCount = frameCount
        entries[number].end = end ?? entries[number].end
        entries[number].endTime = endTime ?? entries[number].endTime
    }

    /// Adds the link after the last one, whose length is known.
    /// - Returns: false when there is no room for it.
    mutating func add(_ link: OggLink) -> Bool {
        guard entries.count < Self.mostLinks, let start = frame(after: entries.count - 1) else { return false }
        entries.append(
            Entry(offset: link.offset, sampleRate: link.content.format.sampleRate, startFrame: start))
        return true
    }

    /// Converts frames of a link to frames of the first link's rate.
    private func frames(_ count: Int64, from number: Int) -> Int64 {
        Self.scaled(count, from: entries[number].sampleRate, to: entries[0].sampleRate)
    }

    /// Converts frames of the first link's rate to frames of a link.
    func frames(_ count: Int64, of number: Int) -> Int64 {
        Self.scaled(count, from: entries[0].sampleRate, to: entries[number].sampleRate)
    }

    private static func scaled(_ count: Int64, from rate: Int, to other: Int) -> Int64 {
        if rate == other { return count }
        let whole = count / Int64(rate)
        let (product, isBeyond) = whole.multipliedReportingOverflow(by: Int64(other))
        return isBeyond || product > .max / 2 ? .max / 2 : product + count % Int64(rate) * Int64(other) / Int64(rate)
    }
}
