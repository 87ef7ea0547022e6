import Fetching
import Output
import PCM
import Platform

/// Plays media products (docs/playback.md): one is active, one may be set as next and follows without a gap.
///
///     engine.bus.subscribe { message in
///         guard case .mediaProductTransition(let transition) = message, transition.active == first else { return }
///         engine.setNext(second)  // it follows without a gap
///     }
///     engine.load(first)
///     engine.play()
///
/// Threads: every function and property may be used from any thread. Calls are carried out on the control thread, in
/// order; properties read the last published values. Messages arrive on `bus`.
/// `@unchecked Sendable` is safe because its parts are set once; calls are posted to control.
public final class PlaybackEngine: @unchecked Sendable {
    /// All messages and errors, in order.
    public let bus: Bus<PlaybackMessage>

    private let loop: EventLoop
    private let conductor: PlaybackConductor
    let published: PublishedPlayback

    package init(loop: EventLoop, bus: Bus<PlaybackMessage>, conductor: PlaybackConductor, published: PublishedPlayback)
    {
        self.loop = loop
        self.bus = bus
        self.conductor = conductor
        self.published = published
    }

    // MARK: Requests

    /// Drops the current products and makes `mediaProduct` the active one, not playing. Its transition message is sent
    /// after the product was opened.
    public func load(_ mediaProduct: MediaProduct) {
        loop.post { [conductor] in conductor.load(mediaProduct) }
    }

    /// Makes `mediaProduct` follow the active one without a gap; nil for none. Call it each time the next product
    /// changes. A call replaces the earlier next product, even after decoding, unless that product is already heard.
    /// Ignored in state `.idle`.
    public func setNext(_ mediaProduct: MediaProduct?) {
        loop.post { [conductor] in conductor.setNext(mediaProduct) }
    }

    /// Plays the active product, because the user wants it. Ignored in state `.idle`.
    public func play() { play(isAutomatic: false) }

    /// Plays the active product.
    /// - Parameter isAutomatic: whether a program continues playback without the user, after a failed product, an
    ///   interruption or a restart. Such a call does not take the streaming privileges from a device on which the user
    ///   pressed play meanwhile (docs/playback.md, 20.3).
    public func play(isAutomatic: Bool) {
        loop.post { [conductor] in conductor.play(isAutomatic: isAutomatic) }
    }

    /// Stops the sound and keeps the position. Ignored in state `.idle`.
    public func pause() { perform(.pause) }

    /// Seeks to a position of the active product, to the exact frame.
    /// - Parameter position: the position in seconds, limited to 0…duration; at the end the product has ended. Ignored
    ///   in state `.idle`.
    public func seek(_ position: Double) { perform(.seek(seconds: position)) }

    /// Makes the next product the active one now, playing or paused as before. Does nothing without a next product.
    public func skipToNext() { perform(.skipToNext) }

    /// Stops and drops the active and the next product; the state is `.idle` and the device is free.
    public func reset() { perform(.reset) }

    /// Plays on another device from now on, or at once if something plays. Continues with the first frame that was not
    /// heard yet.
    /// - Parameter device: `hw:CARD=id,DEV=0`, any PCM name, or `auto`.
    public func use(device: String) {
        loop.post { [conductor] in conductor.use(device) }
    }

    /// Calls `action` once the audio thread has carried out all earlier requests. After `reset` the device is then
    /// free, and another program can open it. Runs on the control thread; it must return soon.
    public func afterRequests(_ action: @escaping @Sendable () -> Void) {
        loop.post { [conductor] in conductor.poller.afterCommands(action) }
    }

    /// Calls `listener` before an open device is reopened for another sample rate or channel count, and when it plays
    /// again. Without a listener the device is reopened at once. Call it once, before playback.
    /// - Parameter listener: called on the control thread; it must return soon. Held until the player is shut down.
    public func askBeforeReopening(_ listener: @escaping @Sendable (DeviceReopening) -> Void) {
        loop.post { [conductor] in conductor.askBeforeReopening(listener) }
    }

    private func perform(_ event: PlaybackStateMachine.Event) {
        loop.post { [conductor] in conductor.handle(event) }
    }

    // MARK: Status

    /// The active product of the last transition message; nil in state `.idle`.
    public var mediaProduct: MediaProduct? { published.value.mediaProduct }

    /// The context of the last transition or quality message; nil in state `.idle`.
    public var playbackContext: PlaybackContext? { published.value.context }

    /// The state of the last state message; `.idle` before the first.
    public var playbackState: PlaybackState { published.value.state }

    /// The position that is heard in the active product, in seconds, as the device reports; nil in state `.idle`.
    public var assetPosition: Double? { published.position }

    /// The configuration of the open device; nil while none is open.
    public var deviceConfiguration: DeviceConfiguration? { published.value.device }

    /// The changes to the samples of the active product on their way to the device; nil while no device is open.
    public var signalPath: SignalPath? {
        let value = published.value
        guard let context = value.context, let device = value.device else { return nil }
        return SignalPath(context, device, value.scaling)
    }

    /// Why the device cannot be opened, for the user, while opening is retried every second; nil otherwise.
    public var deviceProblem: String? { published.value.deviceProblem }

    /// Whether playback is stalled and the active product's medium is the reason: a call that opens or reads it has not
    /// returned yet, or bytes are on their way. False while the decoder works on bytes that have arrived. No message
    /// announces a change; the wait ends with the stall.
    public var isWaitingForMedium: Bool { published.isWaitingForMedium }

    /// A number that changes while the decoder thread of the active product works. nil without a product, and while
    /// that thread is idle or waits for its medium. If the number stays the same for a minute, the thread hangs.
    public var decoderBeat: UInt32? { published.value.pipeline?.decoderBeat }

    /// The seconds of the active product that have arrived but are not decoded; nil for a product that is not streamed,
    /// and while it is not open.
    public var bufferedSeconds: Double? { published.value.pipeline?.stream.bufferedSeconds }

    /// Why the transfers of the active product wait, even while buffered audio still plays; nil while they run. No
    /// message announces a change.
    public var streamWait: WaitReason? { published.value.pipeline?.stream.wait }
}
