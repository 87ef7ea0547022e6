import Platform

/// What is kept, and what is on its way, for a person.
enum OfflineText {
    /// `tonearm:track/7  kept      31.2 MB  lossless  until 2026-12-24  Band - Song`
    static func line(_ entry: JSONValue) -> String {
        var state = entry["state"]?.string ?? ""
        if let percent = entry["percent"]?.integer { state = "\(percent) %" }
        if let wait = entry["waitsFor"]?.string { state = "waits for \(waiting(for: wait))" }
        var words = [entry["product"]?.string ?? "", padded(state, 10), padded(bytes(entry["bytes"]?.integer ?? 0), 9)]
        if let quality = entry["quality"]?.string { words.append(quality) }
        if let time = entry["validUntil"]?.integer { words.append("until \(CalendarTime.date(time))") }
        let names = [entry["artist"]?.string, entry["title"]?.string].compactMap { $0 }
        if !names.isEmpty { words.append(names.joined(separator: " - ")) }
        if let reason = entry["reason"]?.string { words.append(reason) }
        return DisplayText.visible(words.joined(separator: "  "))
    }

    /// What all of it takes, and what downloads wait for.
    static func total(_ status: JSONValue) -> String {
        let (kept, downloads) = (status["kept"]?.integer ?? 0, status["downloads"]?.integer ?? 0)
        var text = "\(kept) kept, \(downloads) on their way, \(bytes(status["bytes"]?.integer ?? 0))"
        if let budget = status["budget"]?.integer { text += " of \(bytes(budget))" }
        if status["nearlyFull"]?.boolean == true { text += " (nearly full)" }
        if let wait = status["waitsFor"]?.string { text += "\nDownloads wait for \(waiting(for: wait))." }
        return text
    }

    /// `tonearm:track/7 [####      ]  40 %`
    static func bar(_ entry: JSONValue, columns: Int) -> String {
        let product = DisplayText.visible(entry["product"]?.string ?? "")
        let percent = Int(clamping: min(max(entry["percent"]?.integer ?? 0, 0), 100))
        let number = String(repeating: " ", count: 3 - "\(percent)".utf8.count) + "\(percent) %"
        // Brackets and blanks, and the last column, which some terminals wrap at.
        let room = min(columns - product.utf8.count - number.utf8.count - 5, 50)
        guard room >= 10 else { return "\(product) \(number)" }
        let full = room * percent / 100
        return
            "\(product) [\(String(repeating: "#", count: full))\(String(repeating: " ", count: room - full))] \(number)"
    }

    private static func waiting(for word: String) -> String {
        let words: [(String, String)] = [
            ("network", "the network"), ("unmetered-network", "Wi-Fi or Ethernet"), ("space", "room"),
            ("online-mode", "the end of offline mode"), ("playback", "playback"),
        ]
        return words.first { $0.0.utf8.elementsEqual(word.utf8) }?.1 ?? word
    }

    private static func padded(_ text: String, _ width: Int) -> String {
        text + String(repeating: " ", count: max(0, width - text.utf8.count))
    }

    /// `31.2 MB`
    static func bytes(_ count: Int64) -> String {
        let units = ["bytes", "kB", "MB", "GB", "TB"]
        // Ten times as much must fit.
        if count > 1 << 50 { return "\(count >> 40) TiB" }
        var (tenths, unit) = (max(0, count) * 10, 0)
        while tenths >= 10_000, unit < units.count - 1 {
            tenths /= 1000
            unit += 1
        }
        return unit == 0 ? "\(count) bytes" : "\(tenths / 10).\(tenths % 10) \(units[unit])"
    }
}
