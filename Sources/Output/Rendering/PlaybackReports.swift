/// What control learns of how it goes after a `run`: each change once.
///
/// Thread: the audio thread.
struct PlaybackReports {
    private enum Report {
        case running, starved, reopening, lost
    }

    private let channel: RendererChannel
    private var generation: UInt64 = 0
    private var questions: UInt64 = 0
    /// The last since `run`.
    private var last: Report?

    init(channel: RendererChannel) { self.channel = channel }

    /// Control wants to know how this `run` goes.
    mutating func begin(_ generation: UInt64) {
        self.generation = generation
        last = nil
    }

    /// Sound is coming out.
    mutating func running() {
        if isNews(.running) { channel.post(.running(generation: generation)) }
    }

    /// Nothing is left to hear.
    mutating func starved() {
        if isNews(.starved) { channel.post(.starved(generation: generation)) }
    }

    /// The device waits to be reopened.
    /// - Returns: the number of the question.
    mutating func reopening() -> UInt64 {
        questions += 1
        last = .reopening
        channel.post(.reopening(question: questions))
        return questions
    }

    /// The device cannot be opened.
    mutating func lost(_ error: DeviceError) {
        guard isNews(.lost) else { return }
        channel.post(.deviceLost(generation: generation, Unmanaged.passRetained(DeviceErrorBox(error))))
    }

    private mutating func isNews(_ report: Report) -> Bool {
        defer { last = report }
        return report != last
    }
}
