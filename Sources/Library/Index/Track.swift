import Media
import PCM

/// A track of the library, according to the index.
package struct Track: Equatable, Sendable {
    /// The number, which stays the same as long as the index exists.
    package var id: Int64
    /// The path in the form of `FileName`: of the file, or of the cue sheet with this track.
    package var path: String
    /// The number in the cue sheet; 0 for a whole file.
    package var part: Int
    /// The title, or else the name of the file.
    package var name: String
    package var stamp: FileStamp
    /// Identifies the content, whatever its path. Play counts belong to it.
    package var content: Int64
    package var container: AudioProperties.Container
    package var codec: AudioProperties.Codec
    /// The value from `AudioProperties`.
    package var aacObjectType: Int?
    package var format: PCMFormat
    /// The number of frames; nil when the file does not contain it.
    package var frameCount: Int64?
    package var metadata: TrackMetadata
    /// The values of the tags. Missing ones are measured, and are nil until then.
    package var replayGain: ReplayGain
    package var albumId: Int64?

    package init(
        id: Int64, path: String, part: Int = 0, name: String, stamp: FileStamp, content: Int64 = 0,
        container: AudioProperties.Container, codec: AudioProperties.Codec, aacObjectType: Int? = nil,
        format: PCMFormat, frameCount: Int64? = nil, metadata: TrackMetadata = TrackMetadata(),
        replayGain: ReplayGain = ReplayGain(), albumId: Int64? = nil
    ) {
        self.id = id
        self.path = path
        self.part = part
        self.name = name
        self.stamp = stamp
        self.content = content
        self.container = container
        self.codec = codec
        self.aacObjectType = aacObjectType
        self.format = format
        self.frameCount = frameCount
        self.metadata = metadata
        self.replayGain = replayGain
        self.albumId = albumId
    }

    /// The duration in seconds.
    package var duration: Double? { frameCount.map { Double($0) / Double(format.sampleRate) } }

    /// The path that the queue plays: the path of a track of a cue sheet treats the sheet as a folder.
    package var playedPath: String {
        if part == 0 { return path }
        let number = "\(part)"
        return "\(path)/track" + String(repeating: "0", count: max(0, 4 - number.utf8.count)) + number
    }
}
