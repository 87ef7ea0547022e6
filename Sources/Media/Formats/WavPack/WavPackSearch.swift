/// Searches the runs of blocks of one file without reading all of them.
struct WavPackSearch {
    let blocks: WavPackBlocks
    /// The first run.
    let first: WavPackBlocks.Run

    /// Up to this many runs are read one by one.
    private static let walkedRuns: Int64 = 4
    private static let mostProbes = 64
    private static let readThrough: Int64 = 65_536
    /// The most bytes before the end in which the last run is searched.
    private static let mostTail: Int64 = 16_777_216

    /// The last run that begins with the frame `index` or before it.
    /// - Parameters:
    ///   - known: a run before it.
    ///   - end: the end of the blocks; nil: they are read from `known` on.
    ///   - endIndex: the number of the first frame that is not there any more.
    func run(
        with index: Int64, from known: WavPackBlocks.Run, to end: Int64?, endIndex: Int64?
    ) throws(Interruption) -> WavPackBlocks.Run {
        var low = known
        if let end {
            var high: (offset: Int64, index: Int64?) = (end, endIndex)
            var isHalved = false
            for _ in 0..<Self.mostProbes {
                let ahead = index - low.nextIndex
                guard ahead > Self.walkedRuns * Int64(low.header.frameCount), high.offset > low.end else { break }
                var middle = low.end + (high.offset - low.end) / 2
                if !isHalved, let highIndex = high.index, highIndex > index {
                    let share = Double(ahead) / Double(highIndex - low.nextIndex)
                    middle = max(low.end, low.end + Int64(Double(high.offset - low.end) * share) - Int64(low.byteCount))
                }
                isHalved.toggle()
                if let found = try blocks.search(from: middle, upTo: high.offset),
                    case .run(let run) = try blocks.next(from: found), run.offset < high.offset,
                    run.header.index > low.header.index
                {
                    if run.header.index <= index { low = run } else { high = (middle, run.header.index) }
                } else {
                    if middle == low.end { break }
                    high = (middle, nil)
                }
            }
        }
        while low.nextIndex <= index, case .run(let next) = try blocks.next(from: low.end),
            next.header.index <= index
        {
            low = next
        }
        return low
    }

    /// The number of the first frame after the last run.
    func endIndex(before end: Int64) throws(Interruption) -> Int64? {
        var size = Self.readThrough
        var stop = end
        while stop > first.offset, end - stop < Self.mostTail {
            let start = max(first.offset, stop - size)
            if let found = try blocks.search(from: start, upTo: stop) {
                var last: WavPackBlocks.Run?
                var offset = found
                while case .run(let run) = try blocks.next(from: offset) {
                    last = run
                    offset = run.end
                }
                if let last { return last.nextIndex }
            }
            stop = start
            size *= 2
        }
        return nil
    }
}
