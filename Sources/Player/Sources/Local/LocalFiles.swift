import Media
import PCM
import Platform

/// Products that are files: the product's id is the path. Used by the command line, and for music on a USB stick.
///
/// Thread: any.
public final class LocalFiles: PlaybackSource {
    public init() {}

    public func open(_ product: MediaProduct, cancellation: Cancellation) throws(PlayerError) -> OpenedProduct {
        if FileKind(at: product.productId) == .other {
            throw PlayerError(.notAudio(looksLike: "a device, a pipe or a socket"), product)
        }
        let bytes: FileByteSource
        do throws(SystemError) {
            bytes = try FileByteSource(path: product.productId, cancellation: cancellation)
        } catch {
            throw PlayerError(error, product)
        }
        let decoder: any AudioDecoder
        do throws(MediaError) { decoder = try AudioFile.open(bytes, cancellation: cancellation) } catch {
            throw PlayerError(error, product)
        }
        let format = decoder.properties.format
        return OpenedProduct(
            decoder: decoder, productId: product.productId, audioMode: format.channelCount <= 2 ? .stereo : nil,
            audioQuality: Self.quality(of: format), replayGain: decoder.metadata.replayGain)
    }

    /// All supported codecs are lossless; formats beyond those of a CD are high resolution.
    private static func quality(of format: PCMFormat) -> AudioQuality {
        format.bitDepth > 16 || format.sampleRate > 48_000 ? .hiResLossless : .lossless
    }
}
