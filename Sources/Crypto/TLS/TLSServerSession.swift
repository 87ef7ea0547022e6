import CMbedTLS
import Platform

/// The server's end of one TLS connection, without a socket: the owner moves its encrypted bytes.
///
///     var session = try TLSServerSession(identity)
///     session.received(read(client, session.inputRoom()))
///     while session.handshake() == .waiting { … }     // sends `output`, adds input
///     session.read(into: buffer)                      // .bytes(100)
///
/// It holds 34 KiB for mbedTLS, and `inputCapacity` and `outputCapacity` of encrypted bytes. mbedTLS allocates during
/// the handshake; reading and writing do not.
///
/// Thread: one at a time, together with all other sessions of its identity.
public struct TLSServerSession: ~Copyable {
    /// The progress of a handshake.
    public enum Handshake: Equatable, Sendable {
        case done
        /// The handshake needs more input, or `output` has to be sent first.
        case waiting
        /// `output` may have an alert for the client. Nothing else may be called afterwards.
        case failed
    }

    /// The result of a read.
    public enum Reading: Equatable, Sendable {
        case bytes(Int)
        /// Reading needs more input, or `output` has to be sent first.
        case waiting
        /// The client sends no more (close_notify; RFC 8446, 6.1). It may still read.
        case end
        /// The input is not TLS, or was changed. `output` may have an alert. Nothing else may be called afterwards.
        case failed
    }

    /// The most bytes that `write` takes at once.
    public static let writeLimit = 8192
    private static let inputCapacity = 4096
    /// The most records without content in a row. Only an attacker sends so many.
    private static let skippedRecords = 32
    /// All that `write` makes, as records of 512 bytes (RFC 6066, 4) in the worst case, and an alert.
    private static let outputCapacity = writeLimit + 1024

    /// The encrypted bytes in both directions, at an address that mbedTLS stores.
    private struct Wire: ~Copyable {
        var input = ByteQueue(capacity: inputCapacity)
        var output = ByteQueue(capacity: outputCapacity)

        deinit {}
    }

    private let identity: TLSIdentity
    // On the heap, because mbedTLS does not allow a context to move.
    private let context: UnsafeMutablePointer<mbedtls_ssl_context>
    private let wire: UnsafeMutablePointer<Wire>

    /// - Throws: `failed` when there is no memory.
    public init(_ identity: TLSIdentity) throws(CryptoError) {
        let context = UnsafeMutablePointer<mbedtls_ssl_context>.allocate(capacity: 1)
        mbedtls_ssl_init(context)
        let code = mbedtls_ssl_setup(context, identity.configuration)
        guard code == 0 else {
            mbedtls_ssl_free(context)
            context.deallocate()
            throw .failed(code: code)
        }
        self.identity = identity
        self.context = context
        wire = .allocate(capacity: 1)
        wire.initialize(to: Wire())
        mbedtls_ssl_set_bio(
            context, wire,
            { wire, bytes, count in
                guard let wire, let bytes else { return MBEDTLS_ERR_SSL_INTERNAL_ERROR }
                let taken = wire.assumingMemoryBound(to: Wire.self).pointee.output
                    .append(UnsafeRawBufferPointer(start: bytes, count: count))
                return taken > 0 ? Int32(truncatingIfNeeded: taken) : MBEDTLS_ERR_SSL_WANT_WRITE
            },
            { wire, bytes, count in
                guard let wire, let bytes else { return MBEDTLS_ERR_SSL_INTERNAL_ERROR }
                let given = wire.assumingMemoryBound(to: Wire.self).pointee.input
                    .take(into: UnsafeMutableRawBufferPointer(start: bytes, count: count))
                return given > 0 ? Int32(truncatingIfNeeded: given) : MBEDTLS_ERR_SSL_WANT_READ
            }, nil)
    }

    deinit {
        mbedtls_ssl_free(context)  // Overwrites the keys.
        context.deallocate()
        wire.deinitialize(count: 1)
        wire.deallocate()
    }

    // MARK: Encrypted bytes

    /// Whether `inputRoom` is empty.
    public var isInputFull: Bool { wire.pointee.input.isFull }

    /// The memory for encrypted bytes from the client; valid until the next call.
    public mutating func inputRoom() -> UnsafeMutableRawBufferPointer { wire.pointee.input.room() }

    /// Takes the first bytes of `inputRoom`.
    public mutating func received(_ count: Int) { wire.pointee.input.added(count) }

    /// The encrypted bytes for the client; valid until the next call.
    public var output: UnsafeRawBufferPointer { wire.pointee.output.bytes }

    /// Removes the first bytes of `output`.
    public mutating func sent(_ count: Int) { wire.pointee.output.removed(count) }

    // MARK: Plain bytes

    /// Continues the handshake. Nothing else may be called before it is done.
    public mutating func handshake() -> Handshake {
        let code = mbedtls_ssl_handshake(context)
        return code == 0 ? .done : Self.isWaiting(code) ? .waiting : .failed
    }

    /// Decrypts bytes from the client into a buffer that is not empty.
    public mutating func read(into buffer: UnsafeMutableRawBufferPointer) -> Reading {
        for _ in 0..<Self.skippedRecords {
            let count = mbedtls_ssl_read(context, buffer.bytePointer, buffer.count)
            if count > 0 { return .bytes(Int(count)) }
            // An empty record (RFC 8446, 5.4), or an alert that changes nothing: there may be others after it.
            if count == 0 || (count == MBEDTLS_ERR_SSL_WANT_READ && !wire.pointee.input.isEmpty) { continue }
            if count == MBEDTLS_ERR_SSL_PEER_CLOSE_NOTIFY { return .end }
            return Self.isWaiting(count) ? .waiting : .failed
        }
        return .failed
    }

    /// Encrypts bytes for the client.
    /// - Precondition: `output` is empty, and there are `writeLimit` bytes at most.
    /// - Returns: whether it was possible. Otherwise nothing else may be called.
    public mutating func write(_ bytes: UnsafeRawBufferPointer) -> Bool {
        precondition(output.isEmpty && bytes.count <= Self.writeLimit, "TLSServerSession.write")
        var done = 0
        while done < bytes.count {
            let rest = UnsafeRawBufferPointer(rebasing: bytes[done...])
            let count = mbedtls_ssl_write(context, rest.bytePointer, rest.count)
            guard count > 0 else { return false }
            done += Int(count)
        }
        return true
    }

    /// Lets the client know that no more bytes follow (close_notify). Nothing may be written afterwards.
    public mutating func close() { _ = mbedtls_ssl_close_notify(context) }

    private static func isWaiting(_ code: Int32) -> Bool {
        code == MBEDTLS_ERR_SSL_WANT_READ || code == MBEDTLS_ERR_SSL_WANT_WRITE
    }
}
