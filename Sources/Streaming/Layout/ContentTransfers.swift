import Media

/// The transfers of content that is being decoded.
///
/// Thread: the decoder thread.
package protocol ContentTransfers: AnyObject {
    /// Whether the whole content has arrived.
    var isFetched: Bool { get }
    /// Whether the content may continue after its last byte, because nothing has announced its end.
    var mayHaveRest: Bool { get }

    /// Begins the next transfers when there is room for more.
    func fetchAhead()
}

extension ContentTransfers {
    package var mayHaveRest: Bool { false }
}

/// A part of the content whose transfers have begun.
///
/// Thread: the decoder thread.
package protocol PreparedPart: ContentTransfers {
    /// Blocks until the format is known.
    func open() throws(MediaError) -> any AudioDecoder
}
