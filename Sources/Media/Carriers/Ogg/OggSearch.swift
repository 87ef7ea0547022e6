/// Searches the pages of one link without reading all of them.
struct OggSearch {
    let pages: OggPages
    let link: OggLink

    /// The bytes that are read in order rather than searched: fewer than this.
    private static let readThrough: Int64 = 65_536
    /// The most bytes before the end in which the last page is searched.
    private static let mostTail: Int64 = 16_777_216

    private enum Finding {
        /// A page of the played stream with a granule position.
        case page(OggPage)
        /// The first page of another link.
        case other(OggPage)
        case end
    }

    private func isOther(_ page: OggPage) -> Bool {
        page.isFirst && page.offset > link.start.offset || !link.serials.contains(page.serial)
    }

    /// The next page with a granule position.
    private func next(from offset: Int64, upTo end: Int64) throws(Interruption) -> Finding {
        var offset = offset
        while case .page(let page) = try pages.next(from: offset, upTo: end) {
            if isOther(page) { return .other(page) }
            if page.serial == link.serial, page.granule != nil { return .page(page) }
            offset = page.end
        }
        return .end
    }

    /// The last page at whose end the time is `time` or less. It is in memory then.
    /// - Parameters:
    ///   - start: where the search begins.
    ///   - end: where it ends; nil: pages are read until one is late enough.
    ///   - endTime: the time there, if it is known.
    func page(upTo time: Int64, from start: Int64, to end: Int64?, endTime: Int64?) throws(Interruption) -> OggPage? {
        var low: (offset: Int64, time: Int64) = (start, link.start.time)
        var high: (offset: Int64, time: Int64?) = (end ?? start, endTime)
        var best: OggPage?
        var isHalved = false
        while high.offset - low.offset > Self.readThrough {
            var middle = low.offset + (high.offset - low.offset) / 2
            if !isHalved, let end = high.time, end > low.time, time >= low.time, time < end {
                let share = Double(time - low.time) / Double(end - low.time)
                let guess = low.offset + Int64(Double(high.offset - low.offset) * share) - Self.readThrough / 2
                middle = max(low.offset, min(guess, high.offset - Self.readThrough / 2))
            }
            isHalved.toggle()
            if case .page(let page) = try next(from: middle, upTo: high.offset), let granule = page.granule {
                if granule <= time {
                    best = page
                    low = (page.end, granule)
                } else {
                    high = (middle, granule)
                }
            } else {
                high = (middle, nil)
            }
        }
        let limit = end == nil ? .max : high.offset
        var offset = low.offset
        while case .page(let page) = try next(from: offset, upTo: limit), let granule = page.granule, granule <= time {
            best = page
            offset = page.end
        }
        guard let best else { return nil }
        _ = try pages.next(from: best.offset)
        return best
    }

    /// Where the next link begins.
    /// - Parameter end: of the source.
    /// - Returns: nil when this link is the last one.
    func nextLink(before end: Int64) throws(Interruption) -> Int64? {
        if let last = try lastPage(before: end, where: { _ in true }), !isOther(last) { return nil }
        var low = link.start.offset
        var high = end
        while high - low > Self.readThrough {
            let middle = low + (high - low) / 2
            guard case .page(let page) = try pages.next(from: middle, upTo: high), !isOther(page) else {
                high = middle
                continue
            }
            low = page.end
        }
        while case .page(let page) = try pages.next(from: low, upTo: end) {
            if isOther(page) { return page.offset }
            low = page.end
        }
        return nil
    }

    /// The time at the end of the last page before an offset.
    func endTime(before end: Int64) throws(Interruption) -> Int64? {
        try lastPage(before: end) { $0.serial == link.serial && $0.granule != nil && !isOther($0) }?.granule
    }

    private func lastPage(
        before end: Int64, where isWanted: (OggPage) -> Bool
    ) throws(Interruption) -> OggPage? {
        var size = Self.readThrough
        var stop = end
        while stop > link.start.offset, end - stop < Self.mostTail {
            let start = max(link.start.offset, stop - size)
            var offset = start
            var last: OggPage?
            while case .page(let page) = try pages.next(from: offset, upTo: stop) {
                if isWanted(page) { last = page }
                offset = page.end
            }
            if let last { return last }
            stop = start
            size *= 2
        }
        return nil
    }
}
