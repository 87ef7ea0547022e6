import Media
import PCM
import Platform

/// Products that are files, or tracks of cue sheets: the product's id is the path. Used by the command line, and for
/// music on a USB stick.
///
/// Thread: any.
public final class LocalFiles: PlaybackSource {
    typealias Opening = @Sendable (_ path: String, Cancellation) throws(SystemError) -> any ByteSource

    private let openFile: Opening
    private let loudness: MeasuredLoudness?

    /// - Parameter loudness: the measured loudness of files without tags of loudness.
    public convenience init(loudness: MeasuredLoudness? = nil) {
        self.init(loudness: loudness) { path, cancellation throws(SystemError) in
            try FileByteSource(path: path, cancellation: cancellation)
        }
    }

    /// - Parameter openFile: opens the bytes of a file.
    init(loudness: MeasuredLoudness? = nil, openFile: @escaping Opening) {
        self.loudness = loudness
        self.openFile = openFile
    }

    public func open(
        _ product: MediaProduct, session: PlaybackSession, cancellation: Cancellation, medium: MediumAccess
    ) throws(PlayerError) -> OpenedProduct {
        let path = product.productId
        if let track = medium.waiting({ SheetTrack(path) }) {
            return try open(track, product, cancellation, medium)
        }
        if medium.waiting({ FileKind(at: path) }) == .other {
            throw PlayerError(.notAudio(looksLike: "a device, a pipe or a socket"), product)
        }
        let decoder = try decoder(of: path, product, cancellation, medium)
        return Self.opened(decoder, replayGain(of: decoder, path, cancellation, medium), product)
    }

    /// Opens a track of a cue sheet: a stretch of its file, with the tags of the sheet.
    private func open(
        _ track: SheetTrack, _ product: MediaProduct, _ cancellation: Cancellation, _ medium: MediumAccess
    ) throws(PlayerError) -> OpenedProduct {
        let bytes = try bytes(of: track.sheet, product, cancellation, medium)
        let (stretch, path): (SheetStretch, String)
        do throws(MusicProblem) {
            let file = try SheetFile(track.sheet, bytes)
            stretch = try SheetStretch(track.number, of: file)
            path = try medium.waiting { () throws(MusicProblem) in try file.music(stretch.file) }
        } catch {
            throw PlayerError(error, product)
        }
        let whole = try decoder(of: path, product, cancellation, medium)
        do throws(MusicProblem) {
            let decoder = try stretch.decoder(whole, replayGain(of: whole, path, cancellation, medium))
            return Self.opened(decoder, decoder.metadata.replayGain, product)
        } catch {
            throw PlayerError(error, product)
        }
    }

    /// Returns the values of the tags. Replaces missing values by measured ones, if there are any.
    private func replayGain(
        of decoder: any AudioDecoder, _ path: String, _ cancellation: Cancellation, _ medium: MediumAccess
    ) -> ReplayGain {
        let tags = decoder.metadata.replayGain
        guard let loudness, !tags.isComplete else { return tags }
        let measured = medium.waiting { loudness.replayGain(of: path, decoder.properties, cancellation) }
        return measured.map { tags.completed(by: $0) } ?? tags
    }

    private func bytes(
        of path: String, _ product: MediaProduct, _ cancellation: Cancellation, _ medium: MediumAccess
    ) throws(PlayerError) -> any ByteSource {
        do throws(SystemError) {
            return MediumByteSource(
                try medium.waiting { () throws(SystemError) in try openFile(path, cancellation) }, medium)
        } catch {
            throw PlayerError(error, product)
        }
    }

    private func decoder(
        of path: String, _ product: MediaProduct, _ cancellation: Cancellation, _ medium: MediumAccess
    ) throws(PlayerError) -> any AudioDecoder {
        let bytes = try bytes(of: path, product, cancellation, medium)
        do throws(MediaError) { return try AudioFile.open(bytes, cancellation: cancellation) } catch {
            throw PlayerError(error, product)
        }
    }

    private static func opened(
        _ decoder: any AudioDecoder, _ replayGain: ReplayGain, _ product: MediaProduct
    ) -> OpenedProduct {
        let format = decoder.properties.format
        return OpenedProduct(
            decoder: decoder, productId: product.productId, audioMode: format.channelCount <= 2 ? .stereo : nil,
            audioQuality: AudioQuality(lossless: format), replayGain: replayGain.filled, isLocal: true)
    }
}
