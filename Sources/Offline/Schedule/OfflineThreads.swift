import Platform

/// Starts the threads of downloads and re-validations. Tests replace `start`.
///
/// Thread: control.
final class OfflineThreads {
    var start: (String, @escaping @Sendable (Cancellation) -> Void) throws(SystemError) -> CancellableThread = {
        (name, body) throws(SystemError) in try CancellableThread(name, body)
    }
}
