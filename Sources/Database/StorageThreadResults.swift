import Platform

extension StorageThread {
    /// Runs `work` in a transaction, as `write` does, and passes its result on.
    /// - Parameters:
    ///   - answerOn: the caller's loop; nil calls `answer` on the storage thread.
    ///   - work: may run twice.
    ///   - answer: called once the work is on the medium, with its result, or with the error when none of it is. The
    ///     result is nil without a state file: the work did not run.
    package func transact<Value: Sendable>(
        urgency: Urgency = .now, answerOn loop: EventLoop?,
        _ work: @escaping @Sendable (Database) throws(DatabaseError) -> Value,
        answer: @escaping @Sendable (Result<Value?, DatabaseError>) -> Void
    ) {
        let result = WorkResult<Value>()
        write(urgency: urgency, answerOn: loop) { (database) throws(DatabaseError) in
            result.value = try work(database)
        } answer: { error in
            answer(error.map { .failure($0) } ?? .success(result.value))
        }
    }
}

/// The result of work on the storage thread.
/// `@unchecked Sendable` is safe because that thread alone sets it, before the answer that reads it.
private final class WorkResult<Value>: @unchecked Sendable {
    var value: Value?
}
