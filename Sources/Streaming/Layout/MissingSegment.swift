import Fetching

extension ResourceFailure {
    /// Returns whether a server answers in this way for a segment that does not exist.
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
