import Platform
import Player

/// The display of playback.
///
/// Thread: the main thread.
protocol Presentation: AnyObject {
    /// Handles a message of the engine. `now` is the state after it.
    func received(_ message: PlaybackMessage, now: NowPlaying)
    /// Shows a path of the command line without music.
    func found(_ problem: MusicSelection.Problem)
    /// Updates the display after a change outside the engine: a key, the size of the terminal.
    func changed()
    /// Ends the display.
    func end()
}

/// Draws `StatusLine`, at most ten times a second and only when it has changed.
final class LinePresentation: Presentation {
    private static let shortestInterval: Int64 = 100_000_000
    /// The interval while playing: five times a second, so that all seconds look equally long.
    private static let playingInterval: Int64 = 200_000_000

    private let console: Console
    private let loop: EventLoop
    private let clock = SystemMonotonicClock()
    private let now: () -> NowPlaying
    private var lastDrawn = Int64.min / 2
    /// Whether a key's action is still running on another thread: the line is drawn again some time later.
    private var isSettling = false
    private var timer: TimerToken?
    /// The time at which `timer` fires.
    private var due: Int64 = 0

    init(console: Console, loop: EventLoop, now: @escaping () -> NowPlaying) {
        self.console = console
        self.loop = loop
        self.now = now
    }

    func received(_ message: PlaybackMessage, now: NowPlaying) { changed() }

    func found(_ problem: MusicSelection.Problem) {}

    func changed() {
        isSettling = true
        draw(noLaterThan: lastDrawn + Self.shortestInterval)
    }

    func end() {
        if let timer { loop.cancel(timer) }
        console.endLine()
    }

    private func draw(noLaterThan time: Int64) {
        if let timer {
            if due <= time { return }
            loop.cancel(timer)
        }
        due = time
        timer = loop.schedule(after: time - clock.now()) { [self] in draw() }
    }

    private func draw() {
        timer = nil
        lastDrawn = clock.now()
        let now = now()
        console.draw(StatusLine(now).text(columns: console.columns))
        if now.state == .playing || isSettling { draw(noLaterThan: lastDrawn + Self.playingInterval) }
        isSettling = false
    }
}

/// Writes a JSON object a line.
final class JSONPresentation: Presentation {
    private static let positionInterval: Int64 = 1_000_000_000

    private let console: Console
    private let loop: EventLoop
    private let now: () -> NowPlaying
    /// Called when the reader has closed the output.
    private let isAbandoned: () -> Void
    private var timer: TimerToken?

    init(console: Console, loop: EventLoop, now: @escaping () -> NowPlaying, isAbandoned: @escaping () -> Void) {
        self.console = console
        self.loop = loop
        self.now = now
        self.isAbandoned = isAbandoned
    }

    func received(_ message: PlaybackMessage, now: NowPlaying) {
        write(JSONMessages.value(of: message, now: now))
        guard case .playbackStateChanged(let state) = message else { return }
        if let timer { loop.cancel(timer) }
        timer = nil
        if state == .playing { schedulePosition() }
    }

    func found(_ problem: MusicSelection.Problem) {
        write(JSONMessages.error(file: problem.path, code: problem.code, message: problem.message))
    }

    func changed() {}

    func end() {
        if let timer { loop.cancel(timer) }
    }

    private func schedulePosition() {
        timer = loop.schedule(after: Self.positionInterval) { [self] in
            write(JSONMessages.position(now()))
            schedulePosition()
        }
    }

    private func write(_ value: JSONValue) {
        if !console.print(value.serialized()) { isAbandoned() }
    }
}
