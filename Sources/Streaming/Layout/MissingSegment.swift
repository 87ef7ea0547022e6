import Fetching

extension ResourceFailure {
    /// Whether a server answers so where it has no segment of that number.
    /// - Parameter isRenewed: whether a second session got the same answer. In the first one a refusal may mean that
    ///   the address has expired.
    package func isOfMissing(isRenewed: Bool) -> Bool {
        guard case .refused(let refusal) = self else { return false }
        switch refusal.status {
        case 404, 410, 201..<300: return true
        case 400..<500: return isRenewed && !ServiceRefusal.isTemporary(refusal.status)
        default: return false
        }
    }
}
