/// What is amiss now.
struct DaemonProblems: Equatable {
    private(set) var all: [DaemonProblem] = []

    /// - Parameter message: nil when it is well again.
    /// - Returns: whether that is news.
    mutating func set(_ subject: String, _ message: String?) -> Bool {
        let index = all.firstIndex { $0.subject.utf8.elementsEqual(subject.utf8) }
        switch (index, message) {
        case (nil, nil):
            return false
        case (let index?, nil):
            all.remove(at: index)
        case (nil, let message?):
            all.append(DaemonProblem(subject: subject, message: message))
        case (let index?, let message?):
            if all[index].message.utf8.elementsEqual(message.utf8) { return false }
            all[index].message = message
        }
        return true
    }
}
