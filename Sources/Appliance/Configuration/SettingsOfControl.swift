/// The settings of the control socket and the board.
extension Setting {
    static let ofControl = [
        Setting(
            .socket, "control", "socket", .path(orWord: "none", limit: SocketFile.lengthLimit),
            "/run/tonearm/control",
            """
            The path of the control socket; none turns it off.
            """),
        Setting(
            .socketMode, "control", "mode", .permissions, "0660",
            """
            The permissions of the socket, for the group below.
            """),
        Setting(
            .socketGroup, "control", "group", .text, "tonearm",
            """
            The group of the socket.
            """),
        Setting(
            .clients, "control", "clients", .integer(1...256), "32", changesWhileRunning: true,
            """
            How many clients may be connected at once, plus one for root.
            """),
        Setting(
            .clientSettings, "control", "client-settings", .choice(["on", "off"]), "on", changesWhileRunning: true,
            """
            Whether the settings of clients, as of the page, override this file. With off they are not used, and none
            can be made. Limits for volume and cellular networks that are set here can only be lowered by clients.
            """),
        Setting(
            .profile, "board", "profile", .path(orWord: "none"), "none",
            """
            The board's profile, board.conf: its buttons, lights and relays, and its sound card.
            """),
        Setting(
            .dac, "board", "dac", .text, "none",
            """
            The DAC on the header of a Raspberry Pi, by a name that `tonearm board dac list` shows: its card, mixer and
            amplifier. The profile's own sound card and amplifier override it.
            """),
        Setting(
            .dacTable, "board", "dac-table", .path(orWord: "none"), "/usr/share/tonearm/dacs",
            """
            The table of these DACs.
            """),
        Setting(
            .powerOff, "board", "power-off", .text, "systemctl poweroff", changesWhileRunning: true,
            """
            The shell command for the action power-off of buttons and clients; none does nothing.
            """),
        Setting(
            .restart, "board", "restart", .text, "systemctl reboot", changesWhileRunning: true,
            """
            The shell command for the action restart of buttons and clients, which restarts the machine; none does
            nothing.
            """),
        Setting(
            .networkRestart, "board", "network-restart", .text, "systemctl restart systemd-networkd",
            changesWhileRunning: true,
            """
            The shell command for the action network-restart of buttons and clients; none does nothing.
            """),
        Setting(
            .systemFolder, "board", "system-folder", .path(orWord: "none"), "none",
            """
            The folder in which the system tells what is wrong, and its last report; in the images it is /run/system.
            """),
    ]
}
