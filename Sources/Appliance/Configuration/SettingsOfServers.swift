/// The settings of the library, of the servers for clients, of updates and of the log.
extension Setting {
    static let ofServers = [
        Setting(
            .libraryFolders, "library", "folders", .paths, "/data/music:/media",
            """
            The folders with music, with a colon between two; none for no index. The defaults are the folders of the
            images. A folder that is missing is looked for each hour, and when something is mounted.
            """),
        Setting(
            .libraryPlaylists, "library", "playlists", .path(orWord: "auto"), "auto",
            """
            The folder of the stored playlists, files NAME.m3u8, which may also be copied there. With auto it is
            playlists in the state folder; in the images it is /data/music/playlists.
            """),
        Setting(
            .mpdAddress, "mpd", "address", .listener, "none",
            """
            Where clients of MPD connect: an address of this machine, any for all of its addresses, or none.
            """),
        Setting(
            .mpdPort, "mpd", "port", .integer(1...65_535), "6600",
            """
            The port for them.
            """),
        Setting(
            .mpdSocket, "mpd", "socket", .path(orWord: "none", limit: SocketFile.lengthLimit), "none",
            """
            A socket for clients on this machine, which may add any file, or none.
            """),
        Setting(
            .mpdClients, "mpd", "clients", .choice(["private", "all"]), "private",
            """
            Whose connections are accepted: with private only those from private networks (192.168…, 10…, fe80…).
            The protocol has no encryption.
            """),
        Setting(
            .mpdPasswords, "mpd", "passwords", .path(orWord: "none"), "none",
            """
            A file with a line for each password: its level, a space and the password. The levels are read, add,
            control and admin; each includes those before it.
            """),
        Setting(
            .mpdPermission, "mpd", "permission", .choice(["none", "read", "add", "control", "admin"]), "admin",
            """
            The level of clients without a password.
            """),
        Setting(
            .webAddress, "web", "address", .listener, "none",
            """
            Where browsers connect: an address of this machine, any for all of its addresses, or none.
            """),
        Setting(
            .webPort, "web", "port", .integer(1...65_535), "8080",
            """
            The port for them. For a port below 1024 the daemon needs the right (CAP_NET_BIND_SERVICE).
            """),
        Setting(
            .webClients, "web", "clients", .choice(["private", "all"]), "private",
            """
            Whose connections are accepted: with private only those from private networks (192.168…, 10…, fe80…). all
            needs certificate, key and password-file.
            """),
        Setting(
            .webNames, "web", "names", .text, "none",
            """
            Names of this machine in the network, with a comma between two: kitchen.fritz.box. Its addresses, names
            without a dot, and those that end with .local, .home.arpa or .internal need not be named.
            """),
        Setting(
            .webPasswordFile, "web", "password-file", .path(orWord: "none"), "none",
            """
            A file with the password of the page in its first line, or none for a page without one.
            """),
        Setting(
            .webGuests, "web", "guests", .choice(["all", "music-only"]), "all",
            """
            What clients in private networks may do without the password. With all: everything when there is none, else
            nothing. With music-only: use the music. Restarts, Wi-Fi and updates then need the password.
            """),
        Setting(
            .webCertificate, "web", "certificate", .path(orWord: "none"), "none",
            """
            A file with the certificate of this machine in PEM, followed by those between it and its authority. With it
            and key, the port speaks HTTPS alone; with none, HTTP without encryption.
            """),
        Setting(
            .webKey, "web", "key", .path(orWord: "none"), "none",
            """
            A file with the private key of the certificate in PEM, without a password.
            """),
        Setting(
            .webFolder, "web", "folder", .path(orWord: nil), "/usr/share/tonearm/web",
            """
            The folder with the files of the page.
            """),
        Setting(
            .webThumbnails, "web", "thumbnails", .megabytes(0...1024), "32 MB",
            """
            How much of the cache ([network] cache-folder) small covers may have, at most half of cache-size; what was
            used least recently goes first. With 0 none are kept, and each is made again.
            """),
        Setting(
            .discoveryAnnounce, "discovery", "announce", .choice(["auto", "on", "off"]), "auto",
            """
            Whether the servers of this player are announced by multicast DNS. With auto they are, unless avahi-daemon
            runs on this machine.
            """),
        Setting(
            .discoveryName, "discovery", "name", .label, "auto",
            """
            The name that other machines show. With auto it is the name of this machine. If another one has it already,
            a number is appended.
            """),
        Setting(
            .updateFolder, "update", "folder", .path(orWord: "none"), "none",
            """
            The folder in which the system takes requests for updates; in the images it is /run/update. With none,
            clients cannot update this machine.
            """),
        Setting(
            .updateCommand, "update", "command", .text, "none", changesWhileRunning: true,
            """
            The shell command that tells the system of a request in that folder; none tells it nothing.
            """),
        Setting(
            .updateAddress, "update", "address", .address(["https", "http"], limit: UpdateAddress.lengthLimit), "none",
            """
            Where the update bundle for this board is published: the page proposes this address.
            """),
        Setting(
            .logLevel, "log", "level", .choice(["error", "warning", "notice", "info", "debug"]), "notice",
            changesWhileRunning: true,
            """
            The least important level of messages to write.
            """),
    ]
}
