import Player

/// The messages of the engine: an entry has begun, ended or failed.
extension QueueStateMachine {
    mutating func began(_ request: PlaybackRequest, duration: Double?, at time: Int64) {
        guard let loaded = requests.loaded, request.serial >= loaded.serial else { return }
        if request != loaded {
            let yield = heardLength.yield(at: time)
            // The planned entry is heard. Another entry may have been set since, and then follows this one.
            if requests.planned == request { requests.planned = nil }
            requests.loaded = request
            place.start = 0
            failures = FailureRun()
            // The entry may have been removed at the same moment.
            guard contents.product(request.entry) != nil else { return ended() }
            contents.advance(to: request.entry)
            if isTooShort(yield) { return }
            planNext()
            notify(.advanced)
        }
        heardLength.began(duration, at: time)
        if wait?.entry == request.entry { endWait() }
        place.isAnnounced = true
        notify(.currentAnnounced)
    }

    /// - Parameter seconds: the length of the last entry that was heard.
    /// - Returns: whether a whole round was too short to be heard. The queue has stopped then.
    mutating func isTooShort(_ seconds: Double, hasFailed: Bool = false) -> Bool {
        // A failed entry is not repeated, and the next one follows.
        let round = contents.repeatMode == .one && !hasFailed ? 1 : contents.roundLength
        guard contents.repeatMode != .off, heardLength.isShortRound(after: seconds, of: round) else { return false }
        contents.giveUp()
        notify(.nothingToHear)
        proceed()
        return true
    }

    /// Handles the end of playback, when the engine had no next entry. An entry may have been added too late for the
    /// engine.
    mutating func finished(_ request: PlaybackRequest, at time: Int64) {
        guard request == requests.loaded else { return }
        let yield = heardLength.yield(at: time)
        forgetLoaded()
        if !isTooShort(yield) { ended() }
    }

    /// Handles the end of the current entry, which was heard completely.
    mutating func ended() {
        if contents.next() == nil { contents.finish() }
        proceed()
    }

    mutating func failed(
        _ request: PlaybackRequest, _ error: PlayerError, _ failure: EntryFailure, at position: Double, _ time: Int64
    ) {
        guard let loaded = requests.loaded, request.serial >= loaded.serial else { return }
        let yield = heardLength.yield(at: time)
        let start = request == loaded ? position : 0
        // The engine is idle now, whether the current or the next entry failed.
        forgetLoaded()
        if request != loaded, request.entry == contents.upNext, failure == .ofMedium || failure == .ofService {
            // The former entry was heard to its end.
            contents.advance(to: request.entry)
            notify(.advanced)
        }
        if request.entry == contents.current, waits(for: request.entry, at: start, error, failure) { return }
        if failure == .ofService, let entry = wait?.entry, wait?.cause == .service, entry != request.entry,
            contents.comeBack(to: entry)
        {
            failures = FailureRun()
            wait?.comesBack()
            retryLater()
            return notify(.advanced)
        }
        failures.add(request.entry, at: start, error, failure)
        wait?.letOthersTry(request.entry, failure)
        if wait?.entry != request.entry { notify(.failed(request.entry, error)) }
        if failures.countWithoutContent >= Self.mostWithoutContent, wait == nil {
            // Ends playback, because the entries are not the cause.
            contents.giveUp()
            proceed()
        } else if failures.count >= contents.roundLength || rules.deviceErrorEnds && error.isOfDevice {
            // Without this, a queue in which all files are damaged would repeat for ever.
            contents.giveUp()
            proceed()
        } else if request.entry == contents.current || request.entry == contents.upNext {
            // The entry may be among entries without frames, and the queue would repeat them without end.
            if request != loaded, isTooShort(yield) { return }
            if isTooShort(start, hasFailed: true) { return }
            contents.pass(over: request.entry)
            proceed()
        } else {
            // Another entry was set as the next one, too late for the engine.
            ended()
        }
    }

    mutating func engineIs(_ state: PlaybackState) {
        if state == .playing {
            failures = FailureRun()
            endWait()
        }
        notify(.stateChanged(state))
    }
}
