/// Reports each change of the playback to control once, after a `run`.
///
/// Thread: the audio thread.
struct PlaybackReports {
    private enum Report {
        case running, starved, reopening, lost
    }

    private let channel: RendererChannel
    private var generation: UInt64 = 0
    private var questions: UInt64 = 0
    /// The last report since `run`.
    private var last: Report?

    init(channel: RendererChannel) { self.channel = channel }

    /// Starts the reports of a new `run`.
    mutating func begin(_ generation: UInt64) {
        self.generation = generation
        last = nil
    }

    /// Sound is heard.
    mutating func running() {
        if isNews(.running) { channel.post(.running(generation: generation)) }
    }

    /// Reports that there are no more frames to play.
    mutating func starved() {
        if isNews(.starved) { channel.post(.starved(generation: generation)) }
    }

    /// Reports that the device has to be reopened, and waits.
    /// - Returns: the number of the question.
    mutating func reopening() -> UInt64 {
        questions += 1
        last = .reopening
        channel.post(.reopening(question: questions))
        return questions
    }

    /// Reports that the device cannot be opened.
    mutating func lost(_ error: DeviceError) {
        guard isNews(.lost) else { return }
        channel.post(.deviceLost(generation: generation, Unmanaged.passRetained(DeviceErrorBox(error))))
    }

    private mutating func isNews(_ report: Report) -> Bool {
        defer { last = report }
        return report != last
    }
}
