import Appliance

/// The values of one connection that its commands use and change.
struct MPDClient {
    /// The bounds of `binarylimit`, in bytes.
    static let binaryLimits = 64...(1 << 20)

    var permission: MPDPermission
    /// The client's address: 16 bytes in the form of `StreamSocket.peerAddress`; empty for a client of the UNIX socket.
    let address: [UInt8]
    /// Whether the client has connected through the UNIX socket.
    var isLocal: Bool { address.isEmpty }
    /// The tags of songs that the client has requested.
    var tags = MPDTags.all
    /// The most bytes of a picture in one answer.
    var binaryLimit = 8192
    let picture = MPDPictureReading()
    /// Whether the client has sent `close`.
    var hasClosed = false
    /// The client's number in `MPDChannels`.
    let number: UInt64
}
