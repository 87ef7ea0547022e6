/// The path of samples after the open device, as far as it is known.
public enum DeviceRoute: Equatable, Sendable {
    /// To a card, into a file, or nowhere: unchanged.
    case direct
    /// Through a sound server or a mixer of several programs. It may change samples.
    case server
    /// Through another plug-in of alsa-lib, to a device that is not known. It may change samples.
    case plugIn
}
