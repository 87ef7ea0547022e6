/// How the loudness of products is normalized (docs/playback.md, 9).
public enum LoudnessNormalizationMode: CaseIterable, Equatable, Sendable, BitwiseCopyable {
    /// Samples stay as they were mastered.
    case off
    /// All tracks are equally loud.
    case track
    /// All albums are equally loud; the relation of the tracks in an album is preserved.
    case album
}
