/// Names of cards and devices. A card is named by its id, because its index depends on the order of start-up.
///
/// Thread: any.
public enum DeviceName {
    /// The name that stands for the first usable card at the time of opening.
    public static let automatic = "auto"

    static func isAutomatic(_ name: String) -> Bool { name.utf8.elementsEqual(automatic.utf8) }

    /// The device to open for `name`: the same name, or for `auto` the device that `AutomaticChoice` finds. That opens
    /// devices for a moment.
    ///
    /// Thread: any; for `auto` not while another thread opens a device.
    /// - Throws: `.absent` when there is no card to choose, `.noPermission`.
    public static func resolved(
        _ name: String, configuration: ALSAConfiguration = .available
    ) throws(DeviceError) -> String {
        var choice = AutomaticChoice()
        // Without a time, the choice does not wait for a device that is in use.
        return try resolved(name, configuration: configuration, last: nil, now: nil, choice: &choice)
    }

    /// - Parameters:
    ///   - last: the device that played last.
    ///   - now: the monotonic time; nil does not wait for a device that is in use.
    /// - Throws: as `resolved`; `.busy` as long as a device is waited for.
    static func resolved(
        _ name: String, configuration: ALSAConfiguration, last: String?, now: Int64?, choice: inout AutomaticChoice
    ) throws(DeviceError) -> String {
        guard isAutomatic(name) else { return name }
        let candidates = OutputSurvey(configuration: configuration).candidates()
        let result = choice.choose(
            among: candidates, last: last, now: now ?? 0, patience: now == nil ? 0 : AutomaticChoice.patience
        ) {
            SoundCardDevice.Availability(of: $0, configuration: configuration)
        }
        switch result {
        case .device(let device): return device
        case .wait(let device): throw .busy(device: device)
        case .none:
            throw ControlNodes.areForbidden ? .noPermission(device: name) : .absent(device: name, present: [])
        }
    }

    /// Why the card of `name` is missing, for a person, without opening its playback device; nil when the card is
    /// there, and for a name that names no card.
    public static func absence(of name: String, configuration: ALSAConfiguration = .available) -> String? {
        do throws(DeviceError) {
            if isAutomatic(name) {
                if OutputSurvey(configuration: configuration).candidates().contains(where: { $0.kind != .notForPeople })
                {
                    return nil
                }
                throw ControlNodes.areForbidden ? .noPermission(device: name) : .absent(device: name, present: [])
            }
            guard let card = cardReference(of: name) else { return nil }
            let present = CardControl.all(configuration: configuration)
            if present.contains(where: { $0.id.utf8.elementsEqual(card.utf8) || Int(card) == $0.index }) { return nil }
            if ControlNodes.areForbidden { throw .noPermission(device: name) }
            throw .absent(device: name, present: present.map { Self.card($0.id) })
        } catch {
            return error.description
        }
    }

    /// The name that opens a card's first device, as in lists: `hw:CARD=DAC`.
    public static func card(_ id: String) -> String { "hw:CARD=\(id)" }

    /// The name that opens the card with one of these ids: the first existing one, else the first id.
    public static func card(among ids: [String], configuration: ALSAConfiguration = .available) -> String {
        let present = ids.count > 1 ? CardControl.all(configuration: configuration).map { $0.id } : []
        let id = ids.first { id in present.contains { $0.utf8.elementsEqual(id.utf8) } } ?? ids.first
        return id.map { card($0) } ?? automatic
    }

    /// `hw:CARD=DAC,DEV=1`.
    public static func device(_ id: String, _ number: Int) -> String { "hw:CARD=\(id),DEV=\(number)" }

    /// `hw:CARD=…` for every card there is.
    public static func present(configuration: ALSAConfiguration = .available) -> [String] {
        CardControl.all(configuration: configuration).map { card($0.id) }
    }

    /// The id or index of the card in a PCM name: `DAC` of `hw:CARD=DAC,DEV=0`, `0` of `hw:0,0`.
    /// - Returns: nil for a name that names no card, like `default` or `file:…`.
    public static func cardReference(of name: String) -> String? {
        guard let colon = name.utf8.firstIndex(of: UInt8(ascii: ":")) else { return nil }
        guard name.utf8[..<colon].elementsEqual("hw".utf8) else { return nil }
        var isFirst = true
        for argument in name.utf8[name.utf8.index(after: colon)...].split(separator: UInt8(ascii: ",")) {
            if let equals = argument.firstIndex(of: UInt8(ascii: "=")) {
                let value = argument[argument.index(after: equals)...]
                if argument[..<equals].elementsEqual("CARD".utf8), !value.isEmpty { return String(Substring(value)) }
            } else if isFirst {
                return String(Substring(argument))
            }
            isFirst = false
        }
        return nil
    }
}
