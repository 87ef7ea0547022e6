import Output
import Player

extension PlayerError {
    /// Whether the device failed and not the product: another product would fail too.
    package var isOfDevice: Bool {
        guard case .device(let error) = cause, case .refused = error else { return false }
        return !error.isPermanent
    }
}
