import Player

/// The wait for an entry whose medium is missing, or whose service is away.
extension QueueStateMachine {
    /// - Returns: false when the other entries are tried.
    mutating func waits(
        for entry: EntryID, at position: Double, _ error: PlayerError, _ failure: EntryFailure
    ) -> Bool {
        let isFirst = wait == nil
        switch failure {
        case .ofMedium where isFirst: wait = EntryWait(for: .medium, entry, at: position)
        case .ofService where isFirst: wait = EntryWait(for: .service, entry, at: position)
        // The service has answered, so the entry itself is the cause.
        case .ofEntry where wait?.entry == entry && wait?.cause == .service: endWait()
        default: break
        }
        guard let wait, wait.entry == entry else { return false }
        if isFirst {
            place.start = position
            notify(.failed(entry, error))
            tellWait(error)
            notify(.rested)
        } else if wait.cause == .service {
            tellWait(error)
        }
        // A seek may have changed the position meanwhile.
        self.wait?.position = position
        guard wait.isOn else { return false }
        retryLater()
        return true
    }

    /// - Parameter error: nil at the end of the wait.
    mutating func tellWait(_ error: PlayerError?) {
        switch wait?.cause {
        case .medium: notify(.mediumMissing(error))
        case .service: notify(.serviceAway(error))
        case nil: break
        }
    }

    mutating func retryLater() {
        guard let position = wait?.position, let interval = wait?.interval() else { return }
        place.start = position
        // Do not retry while paused: `play` asks the service again.
        if wait?.cause == .service, !wantsToPlay { return }
        effects.append(.wake(after: interval))
    }

    mutating func endWait() {
        guard wait != nil else { return }
        effects.append(.cancelWake)
        tellWait(nil)
        wait = nil
    }

    /// Retries over another link, which may work where the former one failed.
    mutating func linkChanged() {
        guard wait?.cause == .service else { return }
        wait?.linkChanged()
        guard requests.loaded == nil, wantsToPlay else { return }
        effects.append(.cancelWake)
        loadCurrent(at: place.start)
    }

    /// Waits for the first entry without content if three in a row, or all that follow, have none: nothing then shows
    /// that the entry itself is the cause.
    mutating func waitForContent() {
        guard wait == nil, contents.current == nil, let first = failures.withoutContent else { return }
        wait = EntryWait(for: .service, first.entry, at: first.position)
        tellWait(first.error)
        notify(.rested)
    }

    mutating func proceed() {
        waitForContent()
        if contents.current == nil, let wait, contents.comeBack(to: wait.entry) {
            failures = FailureRun()
            self.wait?.comesBack()
            retryLater()
            return notify(.advanced)
        }
        if contents.current == nil { wantsToPlay = false }
        loadCurrent(at: 0)
        notify(.advanced)
        if contents.current == nil { notify(.ended) }
    }
}
