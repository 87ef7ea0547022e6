/// What a sink says to bytes.
public enum SinkAnswer: Equatable, Sendable {
    /// The bytes are taken, and more may come.
    case more
    /// The bytes are not taken. They come again after `Transfer.resume`, together with or before what follows. Until
    /// then nothing is read from the connection, so that the server waits.
    case enough
}

/// Where a response goes. Every call comes on the network thread, which waits: take the bytes, post the rest elsewhere.
///
/// The calls are `began`, `received` any number of times, and `ended` exactly once, always as the last one. Without a
/// response there is only `ended`. After `Transfer.cancel` only `ended` comes.
public protocol TransferSink: AnyObject, Sendable {
    /// The head of the final response, after redirects. Its status may be an error's: the body is then that of the
    /// error.
    func began(_ head: ResponseHead)
    /// The next bytes of the body; valid during the call.
    func received(_ bytes: UnsafeRawBufferPointer) -> SinkAnswer
    /// nil: the response is complete.
    func ended(_ error: TransferError?)
}
