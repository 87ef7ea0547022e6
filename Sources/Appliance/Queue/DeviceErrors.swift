import Output
import Player

extension PlayerError {
    /// Whether the device, and not the product, is what cannot be used any more: another product would fare no better.
    public var isOfDevice: Bool {
        guard case .device(let error) = cause, case .refused = error else { return false }
        return !error.isPermanent
    }
}
