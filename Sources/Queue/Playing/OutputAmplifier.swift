/// The amplifier after the sound device, which is muted while the device starts and stops. The owner of the amplifier
/// calls `AmplifiedOutput.deviceMayStart` and `deviceMayStop`.
///
/// Thread: the event loop of the output.
package protocol OutputAmplifier: AnyObject {
    /// Whether the last request to the device was to start.
    var isDeviceStarted: Bool { get }
    /// Whether the device will be stopped when the amplifier has been muted for long enough.
    var isStopping: Bool { get }

    /// Requests the device; `deviceMayStart` follows.
    func wantDevice()

    /// Notes that the device has started.
    func deviceStarted()

    /// Restarts a device that has stopped by itself; `deviceMayStart` follows.
    func restartDevice()

    /// Releases the device; `deviceMayStop` follows.
    func releaseDevice()

    /// Notes that the device is gone, or could not be started.
    func deviceLost()
}
