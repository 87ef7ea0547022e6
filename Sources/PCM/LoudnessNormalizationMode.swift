/// How the loudness of products is normalized (docs/playback.md, 9).
public enum LoudnessNormalizationMode: CaseIterable, Equatable, Sendable, BitwiseCopyable {
    /// As it was mastered.
    case off
    /// All tracks are equally loud.
    case track
    /// All albums are equally loud; within an album the tracks keep their relation.
    case album
}
