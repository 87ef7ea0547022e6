import Appliance

/// The values of one connection that its commands use and change.
struct MPDClient {
    /// The bounds of `binarylimit`, in bytes.
    static let binaryLimits = 64...(1 << 20)

    var permission: MPDPermission
    /// Its address: 16 bytes, as `StreamSocket.peerAddress` has them; empty for one that has connected through the UNIX
    /// socket.
    let address: [UInt8]
    /// Whether it has connected through the UNIX socket.
    var isLocal: Bool { address.isEmpty }
    /// The tags that it wants to have in songs.
    var tags = MPDTags.all
    /// The most bytes of a picture in one answer.
    var binaryLimit = 8192
    let picture = MPDPictureReading()
    /// Whether it has sent `close`.
    var hasClosed = false
    /// Its number at `MPDChannels`.
    let number: UInt64
}
