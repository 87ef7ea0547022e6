import Media

extension MediaError {
    /// The status of an answer that is not the service's; nil for other errors.
    package var foreignStatus: Int? { if case .source(.foreign(let status, _)) = self { status } else { nil } }
}
