import Platform

/// Checks whether this machine has the hardware of a profile: `tonearm board check`.
public enum BoardCheck {
    public struct Finding: Equatable, Sendable {
        public enum Verdict: Equatable, Sendable {
            case present
            /// The hardware may come later: an interface that is plugged in.
            case absent
            /// A function of the board will not work.
            case missing
        }

        public var verdict: Verdict
        /// The checked section or key of the profile: `button play`, `mixer`.
        public var subject: String
        /// The hardware that was found, or the failure and its solution.
        public var message: String
    }

    /// Checks everything that the profile names, in the profile's order. Lines are requested and released at once; an
    /// output is requested in its silent or dark state. When a running daemon uses them, the finding names it.
    /// - Parameter mixer: opens the mixer of the card with that id; called when the card is there.
    /// - Parameter sound: the folder where the kernel lists sound cards by their id.
    /// - Parameter network: the folder where the kernel lists network interfaces.
    public static func findings(
        _ profile: BoardProfile, lines: any LineProvider, mixer: (_ card: String) -> CardMixer,
        sound: String = "/proc/asound", network: String = "/sys/class/net"
    ) -> [Finding] {
        var findings: [Finding] = []
        if let parts = profile.sound {
            let card = soundCard(parts.cards, sound)
            findings.append(card.finding)
            if let id = card.id { findings.append(MixerCheck.finding(parts, on: mixer(id))) }
        }
        for held in profile.heldLines {
            findings.append(output(held.subject, held.line, held.level, initially: true, lines))
        }
        if let amplifier = profile.amplifier {
            let muted = amplifier.role == .mute
            findings.append(output(Amplifier.subject, amplifier.line, amplifier.active, initially: muted, lines))
        }
        for button in profile.buttons { findings.append(input(ButtonInput(button), lines)) }
        for encoder in profile.encoders { findings.append(input(EncoderInput(encoder), lines)) }
        for light in profile.lights {
            findings.append(output(light.subject, light.line, light.active, initially: false, lines))
        }
        let links =
            profile.cellularInterfaces.map { ($0, "count as cellular", "counts as cellular") }
            + profile.unmeteredInterfaces.map { ($0, "count as not metered", "counts as not metered") }
        for (interface, will, does) in links {
            let isThere = FileKind(at: "\(network)/\(interface)") != nil
            let message = isThere ? does : "no such interface now; it will \(will)"
            findings.append(
                Finding(verdict: isThere ? .present : .absent, subject: "network \(interface)", message: message))
        }
        return findings
    }

    /// - Returns: the card that is here, and the finding.
    private static func soundCard(_ ids: [String], _ folder: String) -> (id: String?, finding: Finding) {
        if let id = ids.first(where: { FileKind(at: "\(folder)/\($0)") == .folder }) {
            return (id, Finding(verdict: .present, subject: "sound", message: "card \(id) is here"))
        }
        // Each card has a folder `card0` and a link to it by its id.
        let entries = (try? Folder.entries(of: folder)) ?? []
        let numbered = "card".utf8
        let cards = entries.filter {
            $0.kind == .folder && FileKind(at: "\(folder)/\($0.name)/id") == .file
                && !($0.name.utf8.starts(with: numbered)
                    && $0.name.utf8.dropFirst(numbered.count).allSatisfy { $0 >= 0x30 && $0 <= 0x39 })
        }
        let names = cards.map { $0.name }.joined(separator: ", ")
        let here = cards.isEmpty ? "This machine has none." : "Cards here: \(names)."
        let wanted = ids.map { "`\($0)`" }.joined(separator: " or ")
        return (nil, Finding(verdict: .missing, subject: "sound", message: "no sound card \(wanted). \(here)"))
    }

    private static func input(_ input: any BoardInput, _ lines: any LineProvider) -> Finding {
        let subject = input.subject
        do throws(LineError) {
            var held: [LineReference] = []
            for request in input.lines {
                let source = try lines.input(
                    request.line, active: request.active, bias: request.bias, debounce: request.debounce)
                if try source.isActive() { held.append(request.line) }
            }
            let names = input.lines.map { $0.line.description }.joined(separator: " and ")
            // An encoder may rest on an active contact, a button may not.
            guard input.lines.count > 1 || held.isEmpty else {
                let message = "\(names) is active at rest: the button is held, or `active` is inverted in the profile"
                return Finding(verdict: .missing, subject: subject, message: message)
            }
            return Finding(verdict: .present, subject: subject, message: names)
        } catch {
            return Finding(verdict: .missing, subject: subject, message: error.description)
        }
    }

    private static func output(
        _ subject: String, _ line: LineReference, _ active: ActiveLevel, initially: Bool, _ lines: any LineProvider
    ) -> Finding {
        do throws(LineError) {
            _ = try lines.output(line, active: active, initially: initially)
            return Finding(verdict: .present, subject: subject, message: line.description)
        } catch {
            return Finding(verdict: .missing, subject: subject, message: error.description)
        }
    }
}
