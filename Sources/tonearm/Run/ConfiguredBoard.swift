import Appliance
import Board

/// The board of a configuration: its profile, with the DAC on its header.
struct ConfiguredBoard {
    /// nil without a profile and a DAC.
    private(set) var profile: BoardProfile?
    /// Whether nothing stands against the profile that the configuration names.
    private(set) var hasProfile = true
    /// The mistakes in the profile, the name of the DAC and their combination, a line each.
    private(set) var mistakes: [String] = []

    /// Reads the files that the configuration names.
    init(_ configuration: Configuration) {
        if let path = configuration.boardProfile {
            (profile, mistakes) = BoardProfile.readAround(path: path)
            hasProfile = profile != nil
        }
        guard let name = configuration.headerDAC else { return }
        guard let table = configuration.dacTable else {
            mistakes.append("[board] dac needs dac-table")
            return
        }
        do throws(BoardProfileError) {
            let table = try DACTable(path: table)
            do throws(UnusableDAC) {
                fit(try table.dac(named: name))
            } catch {
                mistakes.append("[board] \(error.description)")
            }
        } catch {
            mistakes += error.lines
        }
    }

    private mutating func fit(_ dac: HeaderDAC) {
        guard let profile else {
            self.profile = BoardProfile(headerWith: dac)
            return
        }
        let fitted = profile.fitted(with: dac)
        self.profile = fitted.profile
        mistakes += fitted.mistakes
    }
}
