import Media

/// The part of the content that is decoded, and the one after it whose transfers have begun.
///
/// Thread: the decoder thread.
struct PreparedParts {
    private let prepare: (Int) throws(MediaError) -> any PreparedPart
    private let count: Int
    /// The number of the current part, from 0.
    private(set) var index = 0
    private(set) var current: any PreparedPart
    /// The part after the current one, once the current one has arrived.
    private var next: (any PreparedPart)?

    /// Begins the transfers of the first part.
    /// - Parameter prepare: begins the transfers of a part.
    init(_ count: Int, prepare: @escaping (Int) throws(MediaError) -> any PreparedPart) throws(MediaError) {
        (self.count, self.prepare) = (count, prepare)
        current = try prepare(0)
    }

    var isLast: Bool { index + 1 == count }

    /// Begins the transfers of the next part as soon as the current one has arrived.
    mutating func prepareNext() {
        guard next == nil, !isLast, current.isFetched else { return }
        // Ignored: opening the part reports the error later, after the frames of the current part.
        do throws(MediaError) { next = try prepare(index + 1) } catch {}
    }

    /// Opens another part, which becomes the current one when that succeeds.
    mutating func open(_ target: Int) throws(MediaError) -> any AudioDecoder {
        let prepared: any PreparedPart
        if target == index + 1, let next { prepared = next } else { prepared = try prepare(target) }
        let opened = try prepared.open()
        (next, index, current) = (nil, target, prepared)
        return opened
    }
}
