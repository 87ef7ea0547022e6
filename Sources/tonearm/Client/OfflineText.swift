import Platform

/// The text of offline copies and downloads, for the user.
enum OfflineText {
    /// `tonearm:track/7  kept      31.2 MB  lossless  until 2026-12-24  Band - Song`
    static func line(_ entry: JSONValue) -> String {
        var state = entry["state"]?.string ?? ""
        if let percent = entry["percent"]?.integer { state = "\(percent) %" }
        if let wait = waitText(entry) { state = "waits for \(wait)" }
        var words = [entry["product"]?.string ?? "", padded(state, 10), padded(bytes(entry["bytes"]?.integer ?? 0), 9)]
        if let quality = entry["quality"]?.string { words.append(quality) }
        // Show the delivered mode and presentation only if they are unusual.
        for (name, usual) in [("mode", "stereo"), ("presentation", "full")] {
            if let word = entry[name]?.string, !word.utf8.elementsEqual(usual.utf8) { words.append(word) }
        }
        if let product = entry["received"]?.string { words.append("plays \(product)") }
        if let time = entry["validUntil"]?.integer { words.append("until \(CalendarTime.date(time))") }
        let names = [entry["artist"]?.string, entry["title"]?.string].compactMap { $0 }
        if !names.isEmpty { words.append(names.joined(separator: " - ")) }
        if let reason = entry["reason"]?.string { words.append(reason) }
        return DisplayText.visible(words.joined(separator: "  "))
    }

    /// Returns the line with all totals, and the reason why downloads wait.
    static func total(_ status: JSONValue) -> String {
        let (copies, downloads) = (status["kept"]?.integer ?? 0, status["downloads"]?.integer ?? 0)
        var text = "offline copies: \(copies), downloads: \(downloads), \(bytes(status["bytes"]?.integer ?? 0))"
        if let budget = status["budget"]?.integer { text += " of \(bytes(budget))" }
        if status["nearlyFull"]?.boolean == true { text += " (nearly full)" }
        if let wait = waitText(status) { text += "\nDownloads wait for \(wait)." }
        return text
    }

    /// Returns the line of a download that runs, or waits for a retry; nil for the others.
    static func progress(_ entry: JSONValue, columns: Int) -> String? {
        if entry["percent"] != nil { return bar(entry, columns: columns) }
        return entry["retryIn"] != nil ? line(entry) : nil
    }

    /// `tonearm:track/7 [####      ]  40 %`
    static func bar(_ entry: JSONValue, columns: Int) -> String {
        let product = DisplayText.visible(entry["product"]?.string ?? "")
        let percent = Int(clamping: min(max(entry["percent"]?.integer ?? 0, 0), 100))
        return ProgressBar.line(product, percent: percent, columns: columns)
    }

    /// Returns the reason of a wait, for example `the network`; nil without a wait.
    private static func waitText(_ value: JSONValue) -> String? {
        guard let word = value["waitsFor"]?.string else { return nil }
        if word.utf8.elementsEqual("retry".utf8) { return retry(value["retryIn"]?.number) }
        let words: [(String, String)] = [
            ("network", "the network"), ("unmetered-network", "Wi-Fi or Ethernet"), ("space", "room"),
            ("storage", "a state that can be written"), ("medium", "the medium of the offline copies"),
            ("playback", "playback"),
            ("online-mode", "the end of offline mode (tonearm config set offline.only no)"),
        ]
        return words.first { $0.0.utf8.elementsEqual(word.utf8) }?.1 ?? word
    }

    /// `a retry in 13 s`
    private static func retry(_ seconds: Double?) -> String {
        guard let seconds else { return "a retry" }
        let whole = Int(max(0, min(seconds.rounded(.up), 1e9)))
        if whole == 0 { return "the answer to a retry" }
        return whole < 120 ? "a retry in \(whole) s" : "a retry in \((whole + 59) / 60) min"
    }

    private static func padded(_ text: String, _ width: Int) -> String {
        text + String(repeating: " ", count: max(0, width - text.utf8.count))
    }

    /// `31.2 MB`
    static func bytes(_ count: Int64) -> String {
        let units = ["bytes", "kB", "MB", "GB", "TB"]
        // The value times ten must not overflow.
        if count > 1 << 50 { return "\(count >> 40) TiB" }
        var (tenths, unit) = (max(0, count) * 10, 0)
        while tenths >= 10_000, unit < units.count - 1 {
            tenths /= 1000
            unit += 1
        }
        return unit == 0 ? "\(count) bytes" : "\(tenths / 10).\(tenths % 10) \(units[unit])"
    }
}
