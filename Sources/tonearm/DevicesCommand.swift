import Appliance
import Control
import Output
import PCM
import Platform

/// `tonearm devices`: the sound cards and their capabilities.
struct DevicesCommand {
    private let json: Bool
    private let console = Console()

    init(_ words: [String]) throws(UsageError) {
        let arguments = try Arguments(parsing: words, knowing: [.init("--json")])
        if let operand = arguments.operands.first { throw UsageError("devices takes no \(operand).") }
        json = arguments.has("--json")
    }

    func run() -> Int32 {
        let cards = SoundCard.all()
        if json {
            for card in cards { console.print(DeviceJSON.value(of: card).serialized()) }
        } else if cards.isEmpty {
            console.print(
                """
                No sound card here. Music can be written to a file instead:
                    tonearm play --device file:FILE=music.wav,FORMAT=wav FOLDER
                """)
        } else {
            console.print(cards.map(DeviceListing.text).joined(separator: "\n"))
        }
        return ExitCode.fine
    }
}

/// The form of a card in a list.
enum DeviceListing {
    static func text(of card: SoundCard) -> String {
        var lines = ["\(DeviceName.card(card.id))  \(DisplayText.visible(card.name)), card \(card.index)"]
        for device in card.devices {
            lines.append("  \(device.device)  \(DisplayText.visible(device.name))")
            lines.append("    rank      \(device.kind.rank.map { "\($0), " } ?? "")\(device.kind.text)")
            switch device.availability {
            case .available(let capabilities):
                lines.append("    rates     \(capabilities.rates.map { "\($0)" }.joined(separator: " ")) Hz")
                lines.append("    formats   \(capabilities.sampleFormats.map { "\($0.name)" }.joined(separator: " "))")
                lines.append("    channels  \(DeviceCapabilities.text(ofChannels: capabilities.channels))")
            case .busy:
                lines.append("    in use by \(DeviceOwner(of: device.number, ofCard: card.index).text)")
            case .unusable(let error):
                lines.append("    \(error)")
            }
        }
        if card.devices.isEmpty { lines.append("  plays nothing: it only records, or has no PCM device") }
        let controls = card.mixerControls.map(text).joined(separator: ", ")
        lines.append("  mixer  \(controls.isEmpty ? "no control; the volume is software" : controls)")
        return lines.joined(separator: "\n")
    }

    private static func text(of control: MixerControl) -> String {
        var text = DisplayText.visible(control.name) + (control.index > 0 ? " #\(control.index)" : "")
        var properties: [String] = []
        if let range = control.decibelRange {
            properties.append("\(decibels(range.lowerBound)) to \(decibels(range.upperBound)) dB")
        }
        if control.hasSwitch { properties.append("mute") }
        if !properties.isEmpty { text += " (\(properties.joined(separator: ", ")))" }
        return text
    }

    private static func decibels(_ hundredths: Int) -> String { (Double(hundredths) / 100).fixed(2) }
}
