/// The answer of a sink to bytes.
public enum SinkAnswer: Equatable, Sendable {
    /// The bytes are taken, and more may follow.
    case more
    /// The bytes are not taken. They are delivered again after `Transfer.resume`, together with or before the next
    /// ones. Until then nothing is read from the connection, so that the server waits.
    case enough
}

/// Receives a response. All calls are on the network thread, which waits: take the bytes, and post further work
/// elsewhere.
///
/// The calls are `began`, `received` any number of times, and `ended` exactly once, always last. Without a response,
/// and after `Transfer.cancel`, only `ended` is called.
public protocol TransferSink: AnyObject, Sendable {
    /// Receives the head of the final response, after redirects. The status may be that of an error; the body then
    /// describes the error.
    func began(_ head: ResponseHead)
    /// The next bytes of the body; valid during the call.
    func received(_ bytes: UnsafeRawBufferPointer) -> SinkAnswer
    /// Ends the response; nil when it is complete.
    func ended(_ error: TransferError?)
}
