import Player

extension PlayerError {
    /// Whether the device, and not the product, is what cannot be used any more.
    public var isOfDevice: Bool { code.utf8.elementsEqual("d7".utf8) }
}
