/// Whether the database is asked for the next downloads. One question at a time is enough.
struct DownloadSearch {
    private var isRunning = false
    /// Whether the rows have changed since the question.
    private var isOutdated = false

    /// - Returns: whether the question is asked now. Otherwise it is repeated after the answer.
    mutating func begin() -> Bool {
        if isRunning { isOutdated = true }
        defer { isRunning = true }
        return !isRunning
    }

    /// Notes the answer.
    /// - Returns: whether it is outdated.
    mutating func end() -> Bool {
        isRunning = false
        defer { isOutdated = false }
        return isOutdated
    }
}
