import PictureRequests
import Platform

/// The thumbnails of covers: stored ones from their folder, and others made by `tonearm-pictures`, each once.
///
/// Thread: any that may block; `thumbnail` waits. `@unchecked Sendable` is safe because `condition` guards the state.
package final class Thumbnails: @unchecked Sendable {
    /// The maximum number of clients that wait at once. A browser that scrolls requests more thumbnails than it needs.
    private static let mostWaiting = 32

    private let folder: ThumbnailFolder
    private let program: PictureProgram
    private let condition = Condition()
    private var turns = PictureTurns()
    private var refused = RefusedPictures()

    package init(_ folder: ThumbnailFolder, _ program: PictureProgram) {
        (self.folder, self.program) = (folder, program)
    }

    /// Returns the thumbnail of a picture, and waits until it is made.
    package func thumbnail(of picture: StoredPicture, _ key: ThumbnailKey) -> PictureResult {
        if let result = known(key) { return result }
        guard program.exists else { return .off }
        guard condition.update({ turns.waiting < Self.mostWaiting }) else { return .failed }
        if condition.update({ turns.arrive(key, picture) }) { startWorker() }
        condition.wait(atMost: program.limits.client) { turns.hasResult(key) }
        return condition.update { turns.take(key) } ?? .failed
    }

    /// Returns the result that is known without reading the picture: its stored thumbnail, or a recorded refusal.
    package func known(_ key: ThumbnailKey) -> PictureResult? {
        if let refusal = condition.update({ refused[key.picture] }) { return .refused(refusal) }
        return folder.thumbnail(for: key).map { .made($0) }
    }

    /// Ends the program, and all waits. Idempotent.
    package func end() {
        condition.update { turns.end() }
        program.end()
    }

    // MARK: The worker

    private func startWorker() {
        do throws(SystemError) {
            _ = try NamedThread.start(name: "pictures", stackSize: 256 << 10) { [self] in work() }
        } catch {
            Log.warning("there are no thumbnails of covers now: \(error)")
            condition.update { turns.loseWorker() }
        }
    }

    /// Makes the waiting thumbnails, and ends.
    private func work() {
        while let turn = condition.update({ turns.next() }) {
            // The thumbnail may have been made since the client checked.
            let result = known(turn.key) ?? make(turn.key, turn.picture)
            condition.update {
                if case .refused(let refusal) = result { refused.add(turn.key.picture, refusal) }
                turns.finish(turn.key, result)
            }
        }
    }

    private func make(_ key: ThumbnailKey, _ picture: StoredPicture) -> PictureResult {
        let result = asked(key, picture)
        switch result {
        case .made(let thumbnail): folder.keep(thumbnail, for: key)
        case .refused(let refusal): Log.info("\(picture.path): no thumbnail of its picture: \(refusal.reason)")
        case .unreadable, .failed, .off: break
        }
        return result
    }

    /// Asks the program, and once more if it ends without an answer, because it may have been killed for another
    /// reason.
    private func asked(_ key: ThumbnailKey, _ picture: StoredPicture) -> PictureResult {
        attempt(key, picture) ?? attempt(key, picture) ?? .refused(.damaged)
    }

    /// - Returns: nil when the program ends without an answer.
    private func attempt(_ key: ThumbnailKey, _ picture: StoredPicture) -> PictureResult? {
        do throws(StoredPicture.Unusable) {
            return try picture.withRange { (descriptor, offset, length) -> PictureResult? in
                guard let result = try? MemoryFile("thumbnail") else { return .failed }
                let request = PictureRequest(longestSide: key.side, offset: offset, length: length)
                let answer = program.answer(to: request, picture: descriptor, result: result.descriptor)
                if answer == .ended { return nil }
                guard case .answered(let answer) = answer, answer.outcome == .made else { return PictureResult(answer) }
                guard answer.length <= Thumbnail.mostBytes, let bytes = result.read(answer.length),
                    let made = Thumbnail(width: answer.width, height: answer.height, bytes: bytes, side: key.side)
                else { return .refused(.damaged) }
                return .made(made)
            }
        } catch {
            switch error {
            case .unreadable: return .unreadable
            case .tooLarge: return .refused(.tooLarge)
            case .noMemory: return .failed
            }
        }
    }
}

extension PictureResult {
    /// The result of an answer without a thumbnail.
    init(_ answer: PictureProgram.Answer) {
        self =
            switch answer {
            case .ended: .refused(.damaged)
            // The medium or the machine may be slow. A program that computes for too long has ended by itself.
            case .notStarted, .tookTooLong: .failed
            case .answered(let answer):
                switch answer.outcome {
                case .unknownFormat: .refused(.unknownFormat)
                case .damaged: .refused(.damaged)
                case .tooLarge: .refused(.tooLarge)
                case .unreadable: .unreadable
                case .made, .unwritable: .failed
                }
            }
    }
}
