/// The settings of the content service and the network.
extension Setting {
    static let ofService = [
        Setting(
            .serviceURL, "service", "url", .service, "none",
            """
            The address of the service, like https://nas.local:8443; none plays files alone. http is not encrypted.
            """),
        Setting(
            .serviceClient, "service", "client", .text, "tonearm",
            """
            The name of this kind of client, which some services ask for.
            """),
        Setting(
            .serviceTokenFile, "service", "token-file", .path(orWord: "none"), "none",
            """
            A file with the token that the service has given out, in its first line, in place of `tonearm login`. It
            should be readable by the daemon alone. It is read again when the service refuses the token.
            """),
        Setting(
            .wifiQuality, "service", "quality", .choice(["low", "high", "lossless", "hi-res-lossless"]), "lossless",
            changesWhileRunning: true,
            """
            The quality on Wi-Fi and Ethernet. The service may send another one; the status shows what came.
            """),
        Setting(
            .cellularQuality, "service", "quality-cellular", .choice(["low", "high", "lossless", "hi-res-lossless"]),
            "low", changesWhileRunning: true,
            """
            The quality on a cellular network.
            """),
        Setting(
            .authorities, "network", "ca-file", .path(orWord: "none"), "none",
            """
            Certificates (PEM) of authorities beside the system's: that of the authority which has signed the
            certificate of your service, or the service's own, if it has signed that itself. They are always verified.
            """),
        Setting(
            .pins, "network", "pins", .pins, "none",
            """
            Hosts whose certificate must have one of these keys, and be valid, too: HOST KEY KEY, HOST KEY. A key is
            the SHA-256 of the public key (DER) in base64; docs/service.md says how to get it.
            """),
        Setting(
            .proxy, "network", "proxy", .address(["http"]), "none",
            """
            A proxy, like http://proxy.local:3128.
            """),
        Setting(
            .readAhead, "network", "read-ahead", .integer(1...256), "16",
            """
            How many MiB of encoded audio are fetched ahead of what is decoded. They are held in memory.
            """),
        Setting(
            .cacheFolder, "network", "cache-folder", .path(orWord: "auto"), "auto",
            """
            Where answers and content of the service are kept, encrypted, for the next time. With auto it is the folder
            cache in the state folder. It must hold nothing else.
            """),
        Setting(
            .cacheSize, "network", "cache-size", .integer(0...65_536), "256",
            """
            How many MiB that folder may have; what was used least recently goes first. 128 MiB of its file system stay
            free. With 0 nothing is kept from now on, and what is there stays until the folder is removed.
            """),
        Setting(
            .wifiFolder, "network", "wifi-folder", .path(orWord: "none"), "none",
            """
            The folder in which the system takes requests about Wi-Fi; in the images it is /run/wifi. With none, clients
            cannot choose a network.
            """),
        Setting(
            .offlineOnly, "offline", "only", .choice(["yes", "no"]), "no", changesWhileRunning: true,
            """
            The offline mode: with yes nothing uses the network. Products of the service play only as offline copies;
            web addresses and stations do not play. Nothing is downloaded or validated. A stream that plays already is
            heard as far as it has arrived.
            """),
        Setting(
            .offlineQuality, "offline", "quality", .choice(["low", "high", "lossless", "hi-res-lossless"]), "lossless",
            changesWhileRunning: true,
            """
            The quality of products that are downloaded from now on.
            """),
        Setting(
            .offlineVideoQuality, "offline", "video-quality", .choice(["low", "medium", "high"]), "high",
            changesWhileRunning: true,
            """
            The quality of videos that are downloaded from now on. Their audio plays.
            """),
        Setting(
            .offlineOverCellular, "offline", "over-cellular", .choice(["yes", "no"]), "no", changesWhileRunning: true,
            """
            Whether products are downloaded and validated over a cellular network too.
            """),
        Setting(
            .offlineDownloadPlayed, "offline", "keep-played", .choice(["yes", "no"]), "no", changesWhileRunning: true,
            """
            Whether products that were played to their end are downloaded too, while there is room. They are fetched
            once more for that. They go first when something else needs the room: those that were played long ago and
            seldom.
            """),
        Setting(
            .offlineFolder, "offline", "folder", .path(orWord: "auto"), "auto",
            """
            The storage folder, where offline copies lie encrypted. With auto it is the folder offline in the state
            folder. It must hold nothing else.
            """),
        Setting(
            .offlineSize, "offline", "size", .integer(0...16_777_216), "0",
            """
            How many MiB that folder may have; 0 is as much as its file system has. What does not fit waits; nothing
            that somebody asked for is removed.
            """),
        Setting(
            .offlineFreeSpace, "offline", "free-space", .integer(0...1_048_576), "256",
            """
            How many MiB of its file system stay free.
            """),
        Setting(
            .offlineDownloads, "offline", "downloads", .integer(1...16), "3",
            """
            How many products are downloaded at once.
            """),
        Setting(
            .eventsPlayLog, "events", "play-log", .choice(["yes", "no"]), "yes",
            """
            Whether the service learns which of its products were heard, when, and for how long. Files on disks are
            never reported.
            """),
        Setting(
            .eventsStatistics, "events", "statistics", .choice(["yes", "no"]), "yes",
            """
            Whether the service learns how well streaming and downloading worked: starts, interruptions, errors.
            """),
        Setting(
            .eventsSize, "events", "size", .integer(1...1024), "20",
            """
            How many MB may wait while the service cannot be reached. The oldest statistics are dropped first.
            """),
    ]
}
