import Output
import PCM
import Platform

/// The pipelines of the current and the next item, and the streams that the renderer may still use.
///
/// Thread: only control.
final class ConductedItems {
    private let source: any PlaybackSource
    private let newSessionID: @Sendable () -> String
    private let deviceMilliseconds: Int
    private let device: ConductedDevice
    private var items: [ItemID: ConductedItem] = [:]
    private var retired: [RetiredStream] = []
    private var lastItem: UInt64 = 0

    /// - Parameters:
    ///   - newSessionID: returns the id of a playback session.
    ///   - deviceMilliseconds: the length of the device's buffer.
    init(
        _ source: any PlaybackSource, newSessionID: @escaping @Sendable () -> String, deviceMilliseconds: Int,
        for device: ConductedDevice
    ) {
        self.source = source
        self.newSessionID = newSessionID
        self.deviceMilliseconds = deviceMilliseconds
        self.device = device
    }

    subscript(id: ItemID?) -> ConductedItem? { id.flatMap { items[$0] } }

    /// Returns the item whose audio this stream has.
    func item(of stream: UInt64) -> ItemID? { items.first { $0.value.stream?.id == stream }?.key }

    /// Returns whether the product comes over a network.
    func streams(_ product: MediaProduct) -> Bool { source.streams(product) }

    func newItem() -> ItemID {
        lastItem += 1
        return ItemID(number: lastItem)
    }

    // MARK: Pipelines

    /// Starts the item's decoder thread.
    /// - Parameter report: called on the decoder thread.
    /// - Returns: the id of its first session.
    func open(
        _ id: ItemID, _ product: MediaProduct, report: @escaping @Sendable (MediaPipeline.Report) -> Void
    ) throws(SystemError) -> String {
        let pipeline = try MediaPipeline(
            product, from: source, newSessionID: newSessionID, deviceMilliseconds: deviceMilliseconds,
            device: device.last, rates: device.rates, report: report)
        items[id] = ConductedItem(product: product, pipeline: pipeline)
        return pipeline.firstSession
    }

    /// Ends the item's decoder thread, as soon as its source allows.
    func close(_ id: ItemID) {
        guard let item = items.removeValue(forKey: id) else { return }
        item.pipeline.cancel()
        retire(item.stream)
    }

    func cancelAll() {
        for item in items.values { item.pipeline.cancel() }
    }

    /// Lets the decoder thread of `playing` watch its ring: the renderer takes frames only from this ring.
    func setPlaying(_ playing: ItemID?) {
        for (id, item) in items { item.pipeline.setPlaying(id == playing) }
    }

    /// Notes that the content service streams the item.
    func isStreamed(_ id: ItemID) { items[id]?.isStreamed = true }

    // MARK: Streams

    /// Takes the stream in which the item's audio comes from now on.
    /// - Returns: whether it is the item's first one.
    func take(_ stream: PCMStream, _ loudness: ProductLoudness, for id: ItemID) -> Bool {
        stream.gain = device.gain(for: loudness)
        let former = items[id]?.stream
        items[id]?.loudness = loudness
        items[id]?.stream = stream
        items[id]?.representations = []
        retire(former)
        return former == nil
    }

    private func retire(_ stream: PCMStream?) {
        if let stream { retired.append(RetiredStream(stream: stream)) }
    }

    var hasRetired: Bool { !retired.isEmpty }

    /// Notes the last command: the renderer has stopped using the retired streams once it has seen all commands so far.
    func sent(_ command: UInt64) {
        for index in retired.indices where retired[index].command == nil { retired[index].command = command }
    }

    /// Retains a retired stream, which may still be heard, until `command` is carried out.
    func keep(_ stream: UInt64, until command: UInt64) {
        for index in retired.indices where retired[index].stream.id == stream { retired[index].command = command }
    }

    /// Frees the streams that the renderer has stopped using.
    func carriedOut(_ command: UInt64) { retired.removeAll { $0.command.map { $0 <= command } ?? false } }

    // MARK: Representations

    /// Notes that from this position on, in seconds, the item has another representation.
    func add(_ representation: AudioRepresentation, at position: Double, to id: ItemID) {
        items[id]?.representations.append((representation, position))
    }

    /// Removes and returns the item's next representation if it is already heard.
    /// - Parameter position: the position that is heard, in seconds.
    func takeRepresentation(of id: ItemID, heardAt position: Double) -> AudioRepresentation? {
        guard let first = items[id]?.representations.first, position >= first.position else { return nil }
        items[id]?.representations.removeFirst()
        return first.representation
    }

    // MARK: The device

    /// Ramps all streams to their current gain.
    func applyGain() {
        for item in items.values { item.stream?.gain = device.gain(for: item.loudness) }
    }

    /// Passes the device and its rates to all items. Decodes the next item again if it was decoded for other rates.
    func deviceChanged(next: ItemID?) {
        let rates = device.rates
        for item in items.values {
            item.pipeline.device.set(device.last)
            item.pipeline.device.set(rates)
        }
        guard let item = self[next], let stream = item.stream, !decodesAgain(stream, item), !stream.format.isDSD,
            case let rate = stream.format.sampleRate, rates.rate(for: rate) != rate
        else { return }
        item.pipeline.seek(toSeconds: 0)
    }

    /// Decodes DSD again to PCM, from the same position, when the device turns out not to accept DSD over PCM.
    func decodesAgain(_ stream: PCMStream, _ item: ConductedItem) -> Bool {
        guard stream.format.isDSD, !device.rates.takes(dsd: stream.format) else { return false }
        item.pipeline.seek(toSeconds: Double(stream.startPosition) / 1e9)
        return true
    }

    /// Decodes an item again from the same position, because the device does not support its rate or DSD over PCM.
    /// - Returns: false when the error has another reason, or conversion is not allowed.
    func converts(_ id: ItemID, after error: DeviceError, next: ItemID?) -> Bool {
        guard let item = items[id], let stream = item.stream, device.refuses(stream.format, because: error)
        else { return false }
        deviceChanged(next: next)
        item.pipeline.seek(toSeconds: Double(stream.startPosition) / 1e9)
        return true
    }
}
