import Media

/// The bytes of a product, with a record of when its decoder waits for them. After `.notYet` the wait lasts until the
/// bytes have arrived.
///
/// Thread: the decoder thread.
public final class MediumByteSource: ByteSource {
    private let source: any ByteSource
    private let medium: MediumAccess

    public init(_ source: any ByteSource, _ medium: MediumAccess) {
        self.source = source
        self.medium = medium
    }

    public var length: Int64? { source.length }

    public var isStreamed: Bool { source.isStreamed }

    public func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(ByteSourceError) -> ByteRead {
        medium.begin()
        var answer: ByteRead?
        defer { if answer != .notYet { medium.end() } }
        let read = try source.read(into: buffer, at: offset)
        answer = read
        return read
    }

    public func whenReadable(_ wake: @escaping @Sendable () -> Void) {
        // A read before the bytes arrive begins a new wait. The end of the earlier wait must not end the new one.
        let access = medium.access
        source.whenReadable { [medium] in
            if let access { medium.end(access) }
            wake()
        }
    }
}
