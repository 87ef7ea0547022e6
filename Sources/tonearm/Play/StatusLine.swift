import Output
import PCM
import Player

/// The line on a terminal while playing:
///
///     Prelude – Ensemble  0:12/3:05  [====------]  44100 Hz 16 bit stereo → S32_LE hw:CARD=DAC,DEV=0
///
/// When the terminal is too narrow, the formats are dropped first, then the bar, then the end of the title. The reason
/// why it does not play replaces them:
///
///     Prelude – Ensemble  0:12/3:05 waiting: hw:CARD=DAC: no such sound card.
struct StatusLine {
    private static let shortestBar = 10
    /// The columns of the title that are reserved first.
    private static let titleColumns = 24
    private static let gap = "  "

    private let now: NowPlaying

    init(_ now: NowPlaying) { self.now = now }

    /// Returns the line when no entry is current.
    /// - Parameter reasons: the reasons, the most important one first.
    static func stopped(_ reasons: [String], columns: Int) -> String {
        let text = reasons.isEmpty ? "stopped" : "stopped: \(reasons.joined(separator: "; "))"
        return DisplayText.shortened(DisplayText.visible(text), to: max(columns - 1, 0))
    }

    /// Returns the line in fewer than `columns` columns, so that the terminal does not wrap it.
    func text(columns: Int) -> String {
        let limit = max(columns - 1, 0)
        let name = Self.name(of: now)
        let time = Self.time(of: now)
        if let problem = now.problem {
            return Self.text(name, "\(time): \(DisplayText.visible(problem))", limit - DisplayText.columns(time), limit)
        }
        let formats = Self.formats(of: now)
        let wanted = min(DisplayText.columns(name), Self.titleColumns)
        let bar = Self.shortestBar + Self.gap.utf8.count
        let end = DisplayText.columns(formats) + Self.gap.utf8.count
        // The columns for the title and the bar.
        var room = limit - DisplayText.columns(time) - Self.gap.utf8.count
        let showsFormats = !formats.isEmpty && room >= wanted + bar + end
        if showsFormats { room -= end }
        let showsBar = now.context?.duration ?? 0 > 0 && room >= wanted + bar
        let title = DisplayText.shortened(name, to: showsBar ? room - bar : room)
        var parts = title.isEmpty ? [] : [title]
        parts.append(DisplayText.shortened(time, to: limit))
        if showsBar { parts.append(self.bar(room - DisplayText.columns(title) - Self.gap.utf8.count)) }
        if showsFormats { parts.append(formats) }
        return parts.joined(separator: Self.gap)
    }

    /// - Parameter room: the columns of `limit` for the title and the problem; the problem gets two thirds.
    private static func text(_ name: String, _ problem: String, _ room: Int, _ limit: Int) -> String {
        let title = DisplayText.shortened(name, to: min(titleColumns, max(room / 3, 0)))
        let start = title.isEmpty ? "" : title + gap
        return start + DisplayText.shortened(problem, to: limit - DisplayText.columns(start))
    }

    private static func name(of now: NowPlaying) -> String {
        let artist = now.context?.artist.map { " – \($0)" } ?? ""
        return DisplayText.visible(now.title + artist)
    }

    private static func time(of now: NowPlaying) -> String {
        var text = clock(now.position ?? 0)
        if let duration = now.context?.duration { text += "/\(clock(duration))" }
        if now.volume != 100 { text += " vol \(now.volume)%" }
        switch now.state {
        case .playing: return text
        case .idle: return "\(text) loading"
        case .notPlaying: return "\(text) paused"
        case .stalled: return "\(text) waiting"
        }
    }

    private static func formats(of now: NowPlaying) -> String {
        guard let device = now.device, let context = now.context else { return "" }
        var text = context.audioSampleRate.map { "\($0) Hz " } ?? ""
        if let depth = context.audioBitDepth { text += "\(depth) bit " }
        text += "\(ChannelName.of(device.channelCount)) → "
        if let rate = context.convertedSampleRate { text += "\(rate) Hz " }
        text += "\(device.sampleFormat.name) \(device.device)"
        if let path = now.path { text += ", \(path)" }
        return DisplayText.visible(text)
    }

    private func bar(_ columns: Int) -> String {
        let inside = max(columns - 2, 0)
        let share = max(0, min(1, (now.position ?? 0) / (now.context?.duration ?? 1)))
        let filled = Int(share * Double(inside))
        return "[" + String(repeating: "=", count: filled) + String(repeating: "-", count: inside - filled) + "]"
    }

    /// Formats whole seconds as `3:05` or `1:02:03`.
    static func clock(_ seconds: Double) -> String {
        let all = Int(max(0, min(seconds, 1e9)))
        let (hours, minutes) = (all / 3600, all / 60 % 60)
        let end = pair(all % 60)
        return hours > 0 ? "\(hours):\(pair(minutes)):\(end)" : "\(minutes):\(end)"
    }

    private static func pair(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
}

/// Names for numbers of channels.
enum ChannelName {
    static func of(_ count: Int) -> String {
        switch count {
        case 1: "mono"
        case 2: "stereo"
        default: "\(count) channels"
        }
    }
}
