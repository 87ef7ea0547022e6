import Database
import Platform

/// The requests of clients that concern the system: its commands, Wi-Fi, updates, sound cards, and the status of the
/// machine.
struct SystemRequests {
    let commands: SystemCommands
    /// Looks at the sound cards for all clients.
    let devices: DeviceSurvey
    let machine: MachineSurvey
    /// The problems of the system; nil without a system folder.
    let problems: SystemProblems?
    /// The requests about Wi-Fi; nil if the system takes none.
    let wifi: WiFiExchange?
    /// The requests for updates; nil if the system takes none.
    let updates: UpdateExchange?

    init(
        _ commands: SystemCommands, _ configuration: Configuration, _ environment: DaemonEnvironment,
        _ problems: DaemonProblems
    ) {
        let (loop, storage) = (environment.loop, environment.storage)
        self.commands = commands
        devices = DeviceSurvey(loop: loop)
        self.problems = configuration.systemFolder.map {
            SystemProblems(folder: $0, storage: storage, loop: loop) { problems.set($0, $1) }
        }
        machine = MachineSurvey(configuration, storage: storage, loop: loop)
        wifi = configuration.wifiFolder.map { WiFiExchange(WiFiFolder(path: $0), storage: storage, loop: loop) }
        updates = configuration.updateFolder.map {
            UpdateExchange(
                SystemFolder(path: $0), standard: configuration.updateAddress, storage: storage, loop: loop
            ) { commands.run(.update) }
        }
    }
}
