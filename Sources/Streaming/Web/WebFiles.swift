import Account
import Fetching
import Media
import Network
import PCM
import Platform
import Playback

/// Products that are files on web servers: the product's id is the address (docs/playback.md, 18). Requests have
/// nothing of the content service: no login, no token, no cookie.
///
/// Thread: any.
/// `@unchecked Sendable` is safe because `lock` guards the mutable state.
public final class WebFiles: PlaybackSource, @unchecked Sendable {
    private enum Line {
        /// The network thread of the content service.
        case shared(any ServiceNetwork)
        /// A network thread of its own, which begins with the first product.
        case unused(NetworkSettings)
        case own(Network)
    }

    private let readAhead: Int
    private let throughput = Throughput()
    private let lock = Lock()
    private var line: Line
    private var offlineMode: OfflineMode?
    private var isLinked: @Sendable () -> Bool = { true }

    /// - Parameters:
    ///   - settings: the settings of its own network.
    ///   - readAhead: how many bytes are fetched before the decoder needs them; nil for the standard.
    public convenience init(_ settings: NetworkSettings, readAhead: Int? = nil) {
        self.init(.unused(settings), readAhead: readAhead ?? ServiceSettings.standardReadAhead)
    }

    /// - Parameter readAhead: how many bytes are fetched before the decoder needs them.
    package convenience init(over network: any ServiceNetwork, readAhead: Int = ServiceSettings.standardReadAhead) {
        self.init(.shared(network), readAhead: readAhead)
    }

    private init(_ line: Line, readAhead: Int) { (self.line, self.readAhead) = (line, readAhead) }

    /// Stops using its own network while offline mode is on. Call it before the first product is opened.
    /// - Parameter isLinked: whether there is a link now. Without one, an address is retried until there is one. Called
    ///   on decoder threads.
    public func follow(_ mode: OfflineMode, isLinked: @escaping @Sendable () -> Bool) {
        lock.withLock { (offlineMode, self.isLinked) = (mode, isLinked) }
    }

    /// Notifies its own network of a new link; see `Network.linkChanged`.
    public func linkChanged(to link: Link) {
        throughput.linkChanged(to: link.kind)
        own?.linkChanged(to: link)
    }

    /// Notifies its own network of changed routes while the link is the same; see `Network.routesChanged`.
    public func routesChanged() { own?.routesChanged() }

    /// Ends all transfers and the thread of its own network. Call it after the player was stopped.
    public func stop() { own?.stop() }

    private var own: Network? { lock.withLock { if case .own(let network) = line { network } else { nil } } }

    public func streams(_ product: MediaProduct) -> Bool { true }

    public func open(
        _ product: MediaProduct, session: PlaybackSession, cancellation: Cancellation, medium: MediumAccess
    ) throws(PlayerError) -> OpenedProduct {
        let file = WebFile(
            address: try Self.address(of: product), product: product, network: try network(for: product),
            readAhead: readAhead, throughput: throughput, cancellation: cancellation, medium: medium)
        let (content, isStation) = try file.open(lock.withLock { isLinked }() ? .opening : .playback)
        let decoder: any FetchingDecoder
        if isStation {
            decoder = StationDecoder(content, over: file.network, medium) { () throws(PlayerError) in
                try file.open(.playback).content
            }
        } else {
            decoder = RestartingDecoder(content, buffering: BufferCondition(medium.stream, throughput)) {
                (_) throws(PlayerError) in try file.open(.playback).content
            }
        }
        return OpenedProduct(
            decoder: decoder, fetching: decoder, productId: product.productId,
            audioMode: decoder.properties.format.channelCount <= 2 ? .stereo : nil,
            replayGain: decoder.metadata.replayGain.filled)
    }

    private static func address(of product: MediaProduct) throws(PlayerError) -> WebFileAddress {
        guard let address = WebFileAddress(product.productId) else {
            throw PlayerError(
                .notAllowed, code: "a2", message: "\(product.productId): an address without a host.",
                mediaProduct: product)
        }
        if let reason = address.refusal {
            throw PlayerError(.notAllowed, code: "a2", message: "\(address.shown): \(reason)", mediaProduct: product)
        }
        return address
    }

    private func network(for product: MediaProduct) throws(PlayerError) -> any ServiceNetwork {
        do throws(NetworkSetupError) {
            return try lock.withLock { () throws(NetworkSetupError) -> any ServiceNetwork in
                switch line {
                case .shared(let network): return network
                case .own(let network): return network
                case .unused(let settings):
                    let network = try Network(settings)
                    if let offlineMode {
                        network.setOfflineMode(offlineMode.observe { isOn in network.setOfflineMode(isOn) })
                    }
                    line = .own(network)
                    return network
                }
            }
        } catch {
            throw PlayerError(
                .network, code: "n1", message: "\(product.productId): \(error.description)", mediaProduct: product)
        }
    }
}

/// A file on a web server, for one playback.
///
/// Thread: the decoder thread; blocks until the audio's format is known.
private struct WebFile {
    let address: WebFileAddress
    let product: MediaProduct
    let network: any ServiceNetwork
    let readAhead: Int
    let throughput: Throughput
    let cancellation: Cancellation
    let medium: MediumAccess

    /// - Parameter purpose: decides how often a server that has sent nothing is retried.
    /// - Returns: the content, and whether it is a station, which never ends.
    func open(
        _ purpose: RetrySchedule.Purpose
    ) throws(PlayerError) -> (content: RestartingDecoder.Content, isStation: Bool) {
        var request = TransferRequest(url: address.request)
        request.isReadInParts = true
        let bytes = StreamedBytes(
            request, over: network, readAhead: readAhead, progress: medium.stream, throughput: throughput,
            purpose: purpose)
        do throws(MediaError) {
            let decoder = try AudioFile.open(MediumByteSource(bytes, medium), cancellation: cancellation)
            if let seconds = decoder.properties.duration { bytes.show(seconds: seconds, isSegment: false) }
            let content = RestartingDecoder.Content(
                decoder, transfers: WebFileTransfer(bytes),
                audioQuality: AudioQuality(lossless: decoder.properties.format))
            return (content, bytes.isOfStation)
        } catch {
            if case .notAudio = error, Self.isPlaylist(bytes) {
                throw PlayerError(
                    .unexpected, code: MusicProblem.listCode,
                    message: "\(product.productId): \(WebFileAddress.listRefusal)", mediaProduct: product)
            }
            throw PlayerError(error, product)
        }
    }

    /// Whether the first bytes, as far as they are still in memory, are those of a playlist.
    private static func isPlaylist(_ bytes: StreamedBytes) -> Bool {
        let beginning = [UInt8](unsafeUninitializedCapacity: 16) { buffer, count in
            do throws(ByteSourceError) {
                if case .bytes(let read) = try bytes.read(into: UnsafeMutableRawBufferPointer(buffer), at: 0) {
                    count = read
                }
            } catch {
                // The reason of the failure is known already.
            }
        }.map { $0.lowercased }
        return beginning.starts(with: "#extm3u".utf8) || beginning.starts(with: "[playlist".utf8.map { $0.lowercased })
    }
}

/// The transfer of a web file. It needs no calls to continue.
private final class WebFileTransfer: ContentTransfers {
    private let bytes: StreamedBytes

    init(_ bytes: StreamedBytes) { self.bytes = bytes }

    var isFetched: Bool { bytes.isComplete }
    var mayHaveRest: Bool { bytes.mayHaveRest }

    func fetchAhead() {}
}
