import Database
import Platform

/// Carries out requests about a folder between this program and the system: files are read and written on the storage
/// thread, and the answer follows later on the loop's.
struct SystemExchange: Sendable {
    typealias Answer = (Result<RemoteReply, RemoteFailure>) -> Void

    let folder: SystemFolder
    private let storage: StorageThread
    private let loop: EventLoop

    init(_ folder: SystemFolder, storage: StorageThread, loop: EventLoop) {
        self.folder = folder
        self.storage = storage
        self.loop = loop
        storage.perform { folder.removeLeftovers() }
    }

    /// - Parameters:
    ///   - work: carries out the request, on the storage thread.
    ///   - answer: called once, later, on the loop's thread.
    func perform(
        _ work: @escaping @Sendable () throws(RemoteFailure) -> RemoteReply, _ answer: @escaping Answer
    ) {
        loop.assertOnLoop()
        // Safe: the storage thread passes it back to the loop and does not call it.
        nonisolated(unsafe) let answer = answer
        let loop = loop
        let willAnswer = storage.perform {
            var result: Result<RemoteReply, RemoteFailure>
            do throws(RemoteFailure) { result = .success(try work()) } catch { result = .failure(error) }
            let complete = result
            loop.post { answer(complete) }
        }
        if !willAnswer { answer(.failure(.ending)) }
    }
}
