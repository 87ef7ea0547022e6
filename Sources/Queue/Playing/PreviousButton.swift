/// The action of "previous" (docs/playback.md, 12.3).
package enum PreviousButton: Equatable, Sendable {
    /// Play the current product from its beginning.
    case restart
    /// Play the previous product.
    case goBack

    /// Seconds of a product after which "previous" restarts it.
    package static let limit = 3.0

    /// - Parameter position: the position that is heard in the current product, in seconds.
    package static func pressed(at position: Double) -> PreviousButton { position > limit ? .restart : .goBack }
}
