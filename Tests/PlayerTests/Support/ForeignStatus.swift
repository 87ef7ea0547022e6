import Media

extension MediaError {
    /// Of an answer that is not the service's; nil for other errors.
    var foreignStatus: Int? { if case .source(.foreign(let status, _)) = self { status } else { nil } }
}
