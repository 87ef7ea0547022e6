/// What "previous" does (docs/playback.md, 12.3).
public enum PreviousButton: Equatable, Sendable {
    /// Play the current product from its beginning.
    case restart
    /// Go to the product before.
    case goBack

    /// Seconds of a product after which "previous" restarts it.
    public static let limit = 3.0

    /// - Parameter position: where the current product is heard, in seconds.
    public static func pressed(at position: Double) -> PreviousButton { position > limit ? .restart : .goBack }
}
