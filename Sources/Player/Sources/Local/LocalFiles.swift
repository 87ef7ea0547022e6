import Media
import PCM
import Platform

/// Products that are files: the product's id is the path. Used by the command line, and for music on a USB stick.
///
/// Thread: any.
public final class LocalFiles: PlaybackSource {
    typealias Opening = @Sendable (_ path: String, Cancellation) throws(SystemError) -> any ByteSource

    private let openFile: Opening

    public convenience init() {
        self.init { path, cancellation throws(SystemError) in
            try FileByteSource(path: path, cancellation: cancellation)
        }
    }

    /// - Parameter openFile: gives the bytes of a file.
    init(openFile: @escaping Opening) { self.openFile = openFile }

    public func open(
        _ product: MediaProduct, session: PlaybackSession, cancellation: Cancellation, medium: MediumAccess
    ) throws(PlayerError) -> OpenedProduct {
        let path = product.productId
        if medium.waiting({ FileKind(at: path) }) == .other {
            throw PlayerError(.notAudio(looksLike: "a device, a pipe or a socket"), product)
        }
        let bytes: any ByteSource
        do throws(SystemError) {
            bytes = try medium.waiting { () throws(SystemError) in try openFile(path, cancellation) }
        } catch {
            throw PlayerError(error, product)
        }
        let decoder: any AudioDecoder
        do throws(MediaError) {
            decoder = try AudioFile.open(MediumByteSource(bytes, medium), cancellation: cancellation)
        } catch {
            throw PlayerError(error, product)
        }
        let format = decoder.properties.format
        return OpenedProduct(
            decoder: decoder, productId: path, audioMode: format.channelCount <= 2 ? .stereo : nil,
            audioQuality: AudioQuality(lossless: format), replayGain: decoder.metadata.replayGain)
    }
}
