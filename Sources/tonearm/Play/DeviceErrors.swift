import Player

extension PlayerError {
    /// Whether the device, and not the product, is what cannot be used any more.
    var isOfDevice: Bool { code == "d7" }
}
