// The control page of Tonearm. One file in plain JavaScript of 2017, for phones from 2018 on (Chrome 70, Safari 12).
//
// The daemon is asked with POST /api/NAME and sends its changes as events from /api/events. docs/control.md of
// Tonearm describes the requests, their fields and the events. The parts of this file, in order:
//
//   Texts        every text of the page, in English and German
//   Elements     making and finding parts of the page
//   Server       the session, requests and events
//   Player       the state of the player, and the part of the page that shows it
//   Sheet        menus, questions and small forms
//   Products     playing, adding and keeping music
//   Lists        lists of any length, of which only the visible rows exist
//   Views        queue, music, playlists, offline copies, settings, login to the music service, updates, Wi-Fi
//   Start        routes, tabs, and the first request
"use strict";

// ---------------------------------------- Texts

// Each has its English and its German form. Values stand in braces. A text that counts has `.one` and `.other`.
const TEXTS = {
  "skip": ["Skip to the content", "Zum Inhalt springen"],
  "nav.label": ["Pages", "Seiten"],
  "nav.playing": ["Playing", "Läuft"],
  "nav.queue": ["Queue", "Warteliste"],
  "nav.music": ["Music", "Musik"],
  "nav.playlists": ["Playlists", "Playlists"],
  "nav.settings": ["Settings", "Optionen"],
  "not-connected": ["Not connected to the speaker. Trying again …",
    "Keine Verbindung zum Lautsprecher. Neuer Versuch …"],
  "loading": ["Loading …", "Lädt …"],
  "cancel": ["Cancel", "Abbrechen"],
  "retry": ["Try again", "Noch einmal"],
  "more": ["More …", "Mehr …"],
  "more-of": ["More for {title}", "Mehr zu {title}"],
  "product.track": ["Track {id} of the service", "Titel {id} des Dienstes"],
  "product.video": ["Video {id} of the service", "Video {id} des Dienstes"],

  "login.title": ["Log in", "Anmelden"],
  "login.password": ["Password", "Passwort"],
  "login.send": ["Log in", "Anmelden"],
  "login.wrong": ["This password is wrong.", "Dieses Passwort ist falsch."],
  "login.wait": ["Too many wrong passwords. Wait a moment, at most five minutes.",
    "Zu viele falsche Passwörter. Bitte etwas warten, höchstens fünf Minuten."],

  "player.label": ["Player", "Wiedergabe"],
  "player.position": ["Position", "Position"],
  "player.position-text": ["{position} of {duration}", "{position} von {duration}"],
  "player.play": ["Play", "Abspielen"],
  "player.pause": ["Pause", "Pause"],
  "player.next": ["Next", "Nächster Titel"],
  "player.previous": ["Previous", "Voriger Titel"],
  "player.shuffle": ["Shuffle", "Zufällige Reihenfolge"],
  "player.repeat.off": ["Repeat: off", "Wiederholen: aus"],
  "player.repeat.all": ["Repeat: all", "Wiederholen: alles"],
  "player.repeat.one": ["Repeat: this track", "Wiederholen: dieser Titel"],
  "player.mute": ["Mute", "Stumm"],
  "player.volume": ["Volume", "Lautstärke"],
  "player.favourite": ["Favourite", "Favorit"],
  "player.empty": ["Nothing is playing", "Es läuft nichts"],
  "player.now": ["Now playing: {title}", "Es läuft: {title}"],
  "player.now-by": ["Now playing: {title}, {artist}", "Es läuft: {title}, {artist}"],
  "mini.label": ["Small player", "Kleine Wiedergabe"],
  "wait.medium": ["Waiting for the music: its disk is missing or slow.",
    "Wartet auf die Musik: Der Datenträger fehlt oder ist langsam."],
  "wait.link": ["Waiting for the network.", "Wartet auf das Netz."],
  "wait.network": ["Waiting: the network has failed.", "Wartet: Das Netz ist ausgefallen."],
  "wait.service": ["Waiting for the music service.", "Wartet auf den Musikdienst."],
  "wait.device": ["Waiting for the sound device.", "Wartet auf das Tongerät."],
  "wait.focus": ["Waiting: another program uses the speaker.",
    "Wartet: Ein anderes Programm benutzt den Lautsprecher."],
  "wait.power": ["Waiting: the board sleeps.", "Wartet: Das Gerät schläft."],
  "wait.data": ["Waiting for data.", "Wartet auf Daten."],
  "wait.seconds": ["Next attempt in {seconds} s.", "Neuer Versuch in {seconds} s."],

  "format.bits": ["{bits} bit", "{bits} Bit"],
  "format.rate": ["{rate} kHz", "{rate} kHz"],
  "format.converted": ["converted to {rate} kHz", "umgerechnet auf {rate} kHz"],
  "path.bit-perfect": ["Bit-perfect: the samples reach the device unchanged.",
    "Bitgenau: Die Abtastwerte erreichen das Gerät unverändert."],
  "path.changed": ["Not bit-perfect: {changes}.", "Nicht bitgenau: {changes}."],
  "path.rate": ["the sample rate is converted", "die Abtastrate wird umgerechnet"],
  "path.channels": ["the channels are mixed", "die Kanäle werden gemischt"],
  "path.loudness": ["the loudness is normalized", "die Lautheit wird angeglichen"],
  "path.volume": ["the volume is set in software", "die Lautstärke wird in Software eingestellt"],
  "path.mute": ["it is muted", "es ist stumm"],
  "path.depth": ["it is dithered to fewer bits", "auf weniger Bits gerundet"],
  "path.dop": ["DSD over PCM", "DSD über PCM"],

  "problems.label": ["Problems", "Probleme"],
  "problem.device": ["The sound device is missing or busy", "Das Tongerät fehlt oder ist belegt"],
  "problem.music": ["The music is missing or late", "Die Musik fehlt oder kommt zu spät"],
  "problem.service": ["The music service is away", "Der Musikdienst ist nicht erreichbar"],
  "problem.privileges": ["Another device plays with this subscription",
    "Ein anderes Gerät spielt mit diesem Abonnement"],
  "problem.queue": ["A queue entry was skipped", "Ein Eintrag der Warteliste wurde übersprungen"],
  "problem.storage": ["The state cannot be saved", "Der Zustand lässt sich nicht speichern"],
  "problem.offline": ["Offline copies cannot be stored", "Offline-Kopien lassen sich nicht speichern"],
  "problem.damage": ["The saved state was damaged", "Der gespeicherte Zustand war beschädigt"],
  "problem.library": ["The index of the music cannot be written", "Der Index der Musik lässt sich nicht schreiben"],
  "problem.mpd": ["Clients of MPD cannot connect", "MPD-Programme können sich nicht verbinden"],
  "problem.discovery": ["Other devices cannot find this speaker", "Andere Geräte finden diesen Lautsprecher nicht"],
  "problem.web": ["This page has a problem", "Diese Seite hat ein Problem"],
  "problem.settings": ["A setting cannot be used", "Eine Einstellung ist nicht benutzbar"],
  "problem.configuration": ["The configuration has a mistake", "Die Konfiguration hat einen Fehler"],
  "problem.amplifier": ["The amplifier cannot be switched", "Der Verstärker lässt sich nicht schalten"],
  "problem.board": ["A part of the board fails: {part}", "Ein Teil des Geräts versagt: {part}"],
  "failed": ["{title} cannot be played: {message}", "{title} lässt sich nicht abspielen: {message}"],

  "error.unreachable": ["The speaker cannot be reached.", "Der Lautsprecher ist nicht erreichbar."],
  "error.login": ["Log in first.", "Bitte zuerst anmelden."],
  "error.empty-queue": ["The queue is empty.", "Die Warteliste ist leer."],
  "error.nothing-current": ["Nothing is playing.", "Es läuft nichts."],
  "error.no-such-entry": ["The list has changed meanwhile. Try again.",
    "Die Liste hat sich inzwischen geändert. Bitte noch einmal."],
  "error.no-such-playlist": ["This playlist is gone.", "Diese Playlist gibt es nicht mehr."],
  "error.playlist-exists": ["A playlist of this name exists.", "Eine Playlist mit diesem Namen gibt es schon."],
  "error.list-full": ["The list is full.", "Die Liste ist voll."],
  "error.queue-full": ["The queue is full.", "Die Warteliste ist voll."],
  "error.no-such-file": ["This file or folder is missing.", "Diese Datei oder dieser Ordner fehlt."],
  "error.no-music": ["There is no music here.", "Hier ist keine Musik."],
  "error.no-service": ["No music service is configured.", "Es ist kein Musikdienst eingerichtet."],
  "error.not-of-service": ["Only music of the service can be downloaded.",
    "Nur Musik des Dienstes lässt sich herunterladen."],

  "error.update-runs": ["An update runs already.", "Es läuft schon eine Aktualisierung."],
  "error.no-wifi": ["Wi-Fi is not set up from this page.", "Das WLAN wird nicht von dieser Seite aus eingerichtet."],

  "queue.title": ["Queue", "Warteliste"],
  "queue.empty": ["The queue is empty. Add music from “Music” or “Playlists”.",
    "Die Warteliste ist leer. Unter „Musik“ und „Playlists“ gibt es etwas für sie."],
  "queue.entries.one": ["{count} entry", "{count} Eintrag"],
  "queue.entries.other": ["{count} entries", "{count} Einträge"],
  "queue.clear": ["Clear", "Leeren"],
  "queue.clear-question": ["Remove all entries from the queue?", "Alle Einträge aus der Warteliste entfernen?"],
  "queue.save": ["Save as playlist", "Als Playlist sichern"],
  "queue.show-current": ["Show current", "Aktuellen zeigen"],

  "row.move": ["Move {title}: drag it, or press the arrow keys",
    "{title} verschieben: ziehen oder Pfeiltasten drücken"],
  "row.moved": ["{title} is now {position} of {count}.", "{title} ist jetzt {position} von {count}."],
  "row.play": ["Play", "Abspielen"],
  "row.top": ["Move to the top", "Ganz nach oben"],
  "row.up": ["Move up", "Nach oben"],
  "row.down": ["Move down", "Nach unten"],
  "row.remove": ["Remove", "Entfernen"],

  "music.title": ["Music", "Musik"],
  "music.search": ["Search", "Suche"],
  "music.search-hint": ["Title, artist, album", "Titel, Interpret, Album"],
  "music.none": ["No music folders are configured.", "Es sind keine Musikordner eingerichtet."],
  "music.scanning": ["Looking through the folders: {done} of {found} files …",
    "Die Ordner werden durchgesehen: {done} von {found} Dateien …"],
  "music.artists": ["Artists", "Interpreten"],
  "music.albums": ["Albums", "Alben"],
  "music.genres": ["Genres", "Genres"],
  "music.recent": ["Recently added", "Neu hinzugekommen"],
  "music.folders": ["Folders", "Ordner"],
  "music.favourites": ["Favourites", "Favoriten"],
  "music.played": ["Recently played", "Zuletzt gehört"],
  "music.history": ["History", "Verlauf"],
  "music.kept": ["Offline copies", "Offline-Kopien"],
  "music.tracks": ["Tracks", "Titel"],
  "music.empty": ["Nothing here yet.", "Hier ist noch nichts."],
  "music.nothing": ["Nothing was found.", "Nichts gefunden."],
  "music.tracks.one": ["{count} track", "{count} Titel"],
  "music.tracks.other": ["{count} tracks", "{count} Titel"],
  "music.albums.one": ["{count} album", "{count} Album"],
  "music.albums.other": ["{count} albums", "{count} Alben"],
  "music.plays.one": ["played once", "einmal gehört"],
  "music.plays.other": ["played {count} times", "{count}-mal gehört"],

  "action.play": ["Play now", "Jetzt abspielen"],
  "action.next": ["Play next", "Als Nächstes abspielen"],
  "action.add": ["Add to the queue", "An die Warteliste anhängen"],
  "action.playlist": ["Add to a playlist", "Zu einer Playlist hinzufügen"],
  "action.favour": ["Make it a favourite", "Zum Favoriten machen"],
  "action.unfavour": ["No longer a favourite", "Kein Favorit mehr"],
  "action.keep": ["Keep offline", "Offline behalten"],
  "action.kept": ["It will be downloaded.", "Es wird heruntergeladen."],
  "action.playing": ["It plays now.", "Es läuft jetzt."],
  "added.one": ["{count} track was added.", "{count} Titel wurde hinzugefügt."],
  "added.other": ["{count} tracks were added.", "{count} Titel wurden hinzugefügt."],

  "playlists.title": ["Playlists", "Playlists"],
  "playlists.empty": ["There are no playlists yet.", "Es gibt noch keine Playlists."],
  "playlists.new": ["New playlist", "Neue Playlist"],
  "playlists.name": ["Name", "Name"],
  "playlists.save": ["Save", "Sichern"],
  "playlists.saved": ["The playlist “{name}” was saved.", "Die Playlist „{name}“ wurde gesichert."],
  "playlists.replace": ["A playlist “{name}” exists. Replace it?", "Eine Playlist „{name}“ gibt es schon. Ersetzen?"],
  "playlists.replace-do": ["Replace", "Ersetzen"],
  "playlists.rename": ["Rename", "Umbenennen"],
  "playlists.delete": ["Delete", "Löschen"],
  "playlists.delete-question": ["Delete the playlist “{name}”?", "Die Playlist „{name}“ löschen?"],
  "playlists.no-entries": ["This playlist is empty.", "Diese Playlist ist leer."],

  "kept.title": ["Offline copies", "Offline-Kopien"],
  "kept.summary": ["{kept} copies, {size} used", "{kept} Kopien, {size} belegt"],
  "kept.summary-budget": ["{kept} copies, {size} of {budget} used", "{kept} Kopien, {size} von {budget} belegt"],
  "kept.nearly-full": ["The room for copies is nearly full.", "Der Platz für Kopien ist fast voll."],
  "kept.waits.network": ["Downloads wait for the network.", "Downloads warten auf das Netz."],
  "kept.waits.unmetered-network": ["Downloads wait for a network without charges.",
    "Downloads warten auf ein Netz ohne Gebühren."],
  "kept.waits.space": ["Downloads wait for room.", "Downloads warten auf Platz."],
  "kept.waits.storage": ["Downloads wait: nothing can be written.",
    "Downloads warten: Es lässt sich nichts schreiben."],
  "kept.waits.medium": ["Downloads wait for their disk.", "Downloads warten auf ihren Datenträger."],
  "kept.waits.online-mode": ["Downloads wait: the offline mode is on.",
    "Downloads warten: Der Offline-Modus ist an."],
  "kept.waits.playback": ["Downloads wait for playback.", "Downloads warten auf die Wiedergabe."],
  "kept.waits.retry": ["Downloads are tried again soon.", "Downloads werden bald wieder versucht."],
  "kept.downloads": ["Downloads", "Downloads"],
  "kept.copies": ["Copies", "Kopien"],
  "kept.none": ["There are no offline copies.", "Es gibt keine Offline-Kopien."],
  "kept.pause-all": ["Pause all", "Alle anhalten"],
  "kept.resume-all": ["Resume all", "Alle fortsetzen"],
  "kept.pause": ["Pause", "Anhalten"],
  "kept.resume": ["Resume", "Fortsetzen"],
  "kept.cancel": ["Cancel the download", "Download abbrechen"],
  "kept.remove": ["Remove the copy", "Kopie entfernen"],
  "kept.more": ["Show more", "Mehr zeigen"],
  "kept.state.queued": ["queued", "in der Reihe"],
  "kept.state.running": ["{percent} %", "{percent} %"],
  "kept.state.waiting": ["waiting", "wartet"],
  "kept.state.paused": ["paused", "angehalten"],
  "kept.state.failed": ["failed: {reason}", "fehlgeschlagen: {reason}"],
  "kept.state.kept": ["complete", "vollständig"],
  "kept.state.expired": ["expired", "abgelaufen"],
  "kept.state.damaged": ["damaged", "beschädigt"],

  "settings.title": ["Settings", "Optionen"],
  "settings.restart": ["A change takes effect at the next start.", "Eine Änderung gilt ab dem nächsten Start."],
  "settings.read-only": ["It can only be set in the configuration file.",
    "Nur in der Konfigurationsdatei einstellbar."],
  "settings.saved": ["Saved.", "Gesichert."],
  "settings.saved-restart": ["Saved. It takes effect at the next start.",
    "Gesichert. Es gilt ab dem nächsten Start."],
  "settings.reset": ["Use the file’s value", "Wert der Datei nehmen"],
  "settings.rejected": ["Not saved: {message}", "Nicht gesichert: {message}"],
  "setting.audio.device": ["Sound device", "Tongerät"],
  "setting.audio.maximum-volume": ["Highest volume, in percent", "Höchste Lautstärke, in Prozent"],
  "setting.audio.volume-route": ["Where the volume is set", "Wo die Lautstärke eingestellt wird"],
  "setting.audio.normalization": ["Same loudness", "Gleiche Lautheit"],
  "setting.audio.pre-amp": ["Gain of normalized music, in dB", "Pegel angeglichener Musik, in dB"],
  "setting.audio.channels": ["Channels", "Kanäle"],
  "setting.audio.resampling": ["Rates that the device does not have", "Raten, die das Gerät nicht hat"],
  "setting.player.resume": ["After a start", "Nach einem Start"],
  "setting.service.quality": ["Quality of the music service", "Qualität des Musikdienstes"],
  "setting.offline.only": ["Offline mode", "Offline-Modus"],
  "setting.library.folders": ["Music folders", "Musikordner"],
  "device.auto": ["automatic", "automatisch"],
  "device.busy": ["{device} (in use)", "{device} (in Gebrauch)"],
  "device.unusable": ["{device} (not usable)", "{device} (nicht benutzbar)"],
  "value.auto": ["in the sound card, if possible", "in der Soundkarte, wenn möglich"],
  "value.software": ["in software", "in Software"],
  "value.off": ["off", "aus"],
  "value.track": ["for each track", "für jeden Titel"],
  "value.album": ["for albums as a whole", "für Alben im Ganzen"],
  "value.stereo": ["stereo", "Stereo"],
  "value.swapped": ["sides swapped", "Seiten vertauscht"],
  "value.mono": ["mono", "Mono"],
  "value.left": ["left only", "nur links"],
  "value.right": ["right only", "nur rechts"],
  "value.very-high": ["convert, very high quality", "umrechnen, sehr hohe Qualität"],
  "value.high": ["high", "hoch"],
  "value.low": ["low", "niedrig"],
  "value.lossless": ["lossless", "verlustfrei"],
  "value.hi-res-lossless": ["highest, lossless", "höchste, verlustfrei"],
  "value.playing": ["play on", "weiterspielen"],
  "value.paused": ["stay paused", "angehalten bleiben"],
  "value.empty": ["empty the queue", "Warteliste leeren"],
  "value.yes": ["on", "an"],
  "value.no": ["off", "aus"],
  "library.title": ["Music library", "Musiksammlung"],
  "library.scan": ["Look for new music", "Nach neuer Musik suchen"],
  "library.scan-begun": ["The folders are looked through.", "Die Ordner werden durchgesehen."],
  "service.title": ["Music service", "Musikdienst"],
  "service.logged-in": ["Logged in to {service}.", "Angemeldet bei {service}."],
  "service.logged-out": ["Not logged in to {service}.", "Nicht angemeldet bei {service}."],
  "service.log-in": ["Log in", "Anmelden"],
  "service.cancel": ["Cancel the login", "Anmeldung abbrechen"],
  "service.log-out": ["Log out", "Abmelden"],
  "service.log-out-question": ["Log out of the music service?", "Vom Musikdienst abmelden?"],
  "service.token": ["Still logged in: the configuration has a file with a token.",
    "Noch angemeldet: In der Konfiguration steht eine Datei mit einem Token."],
  "service.prompt": ["Open this page on any device and enter the code, or scan the picture with a phone:",
    "Diese Seite auf irgendeinem Gerät öffnen und den Code eingeben, oder das Bild mit einem Telefon scannen:"],
  "service.code": ["Code: {code}", "Code: {code}"],
  "service.qr": ["QR code of the page", "QR-Code der Seite"],
  "service.problem": ["It has failed: {message}", "Es ist fehlgeschlagen: {message}"],
  "wifi.title": ["Wi-Fi", "WLAN"],
  "wifi.choose": ["Choose a network", "Netz wählen"],
  "wifi.mode.off": ["Not connected to a network.", "Mit keinem Netz verbunden."],
  "wifi.mode.connecting": ["Looking for a known network.", "Sucht ein bekanntes Netz."],
  "wifi.mode.connected": ["Connected to {network}.", "Verbunden mit {network}."],
  "wifi.mode.access-point": ["{own} is the speaker’s own network. Choose the network that it shall use.",
    "{own} ist das eigene Netz des Lautsprechers. Bitte das Netz wählen, das er benutzen soll."],
  "wifi.mode.trying": ["The speaker now tries {network}.", "Der Lautsprecher versucht jetzt {network}."],
  "wifi.mode.null": ["Nothing is known about Wi-Fi yet.", "Über das WLAN ist noch nichts bekannt."],
  "wifi.closed": ["Its network {own} is closed meanwhile.", "Sein Netz {own} ist solange geschlossen."],
  "wifi.away": ["The connection to it may be lost meanwhile.", "Die Verbindung zu ihm kann solange fehlen."],
  "wifi.success": ["If it works, the speaker is in {network} from then on.",
    "Wenn es gelingt, ist der Lautsprecher ab dann in {network}."],
  "wifi.follow": ["Connect your phone to it, too, and open {room}.local in the browser.",
    "Dann das Telefon auch damit verbinden und im Browser {room}.local öffnen."],
  "wifi.again": ["Connect your phone to the network {own} again if the speaker is not found in a minute.",
    "Das Telefon wieder mit dem Netz {own} verbinden, wenn der Lautsprecher nach einer Minute nicht zu finden ist."],
  "wifi.joined": ["The speaker is in the network {network} now.", "Der Lautsprecher ist jetzt im Netz {network}."],
  "wifi.problem.wrong-password": ["{network}: the password is wrong.", "{network}: Das Passwort stimmt nicht."],
  "wifi.problem.not-found": ["{network} was not found. Is it in range?",
    "{network} wurde nicht gefunden. Ist das Netz in Reichweite?"],
  "wifi.problem.no-address": ["{network} has not given the speaker an address. Look at the router.",
    "{network} hat dem Lautsprecher keine Adresse gegeben. Bitte den Router prüfen."],
  "wifi.problem.refused": ["{network} does not let the speaker in.", "{network} lässt den Lautsprecher nicht hinein."],
  "wifi.problem.null": ["{network} could not be joined.", "Keine Verbindung mit {network}."],
  "wifi.networks": ["Networks in range", "Netze in Reichweite"],
  "wifi.none": ["No network was found.", "Kein Netz gefunden."],
  "wifi.scan": ["Look again", "Erneut suchen"],
  "wifi.scan-begun": ["The speaker looks for networks.", "Der Lautsprecher sucht Netze."],
  "wifi.hidden": ["Hidden network", "Verstecktes Netz"],
  "wifi.name": ["Name of the network", "Name des Netzes"],
  "wifi.password": ["Password", "Passwort"],
  "wifi.empty": ["Without a password for an open network.", "Ohne Passwort für ein offenes Netz."],
  "wifi.show": ["Show the password", "Passwort zeigen"],
  "wifi.rule": ["A password has 8 to 63 characters.", "Ein Passwort hat 8 bis 63 Zeichen."],
  "wifi.connect": ["Connect", "Verbinden"],
  "wifi.open": ["open", "offen"],
  "wifi.secured": ["secured", "gesichert"],
  "wifi.other": ["not supported", "nicht unterstützt"],
  "wifi.signal.1": ["very weak", "sehr schwach"],
  "wifi.signal.2": ["weak", "schwach"],
  "wifi.signal.3": ["good", "gut"],
  "wifi.signal.4": ["very good", "sehr gut"],
  "wifi.known": ["Known networks", "Bekannte Netze"],
  "wifi.known-network": ["known", "bekannt"],
  "wifi.fixed": ["in the configuration", "in der Konfiguration"],
  "wifi.forget": ["Forget {network}", "{network} vergessen"],
  "wifi.forget-question": ["Forget {network} and its password?", "{network} und sein Passwort vergessen?"],
  "update.title": ["Update", "Aktualisierung"],
  "update.running": ["Version {version} runs.", "Es läuft Version {version}."],
  "update.address": ["Address of the update", "Adresse der Aktualisierung"],
  "update.note": ["Of the file for this board, as its maker publishes it. Its signature is checked.",
    "Von der Datei für dieses Gerät, wie sein Hersteller sie veröffentlicht. Ihre Unterschrift wird geprüft."],
  "update.install": ["Install the update", "Aktualisierung installieren"],
  "update.progress": ["Progress of the update", "Fortschritt der Aktualisierung"],
  "update.mode.waiting": ["The update begins in a moment.", "Die Aktualisierung beginnt gleich."],
  "update.mode.downloading": ["The update is downloaded. The music plays on.",
    "Die Aktualisierung wird heruntergeladen. Die Musik läuft weiter."],
  "update.mode.installing": ["The update is installed. The music plays on.",
    "Die Aktualisierung wird installiert. Die Musik läuft weiter."],
  "update.mode.installed": ["Version {next} is installed. It starts with the next restart.",
    "Version {next} ist installiert. Sie beginnt mit dem nächsten Neustart."],
  "update.mode.restarting": ["The speaker restarts. In about a minute this page shows its version.",
    "Der Lautsprecher startet neu. In etwa einer Minute zeigt diese Seite seine Version."],
  "update.success": ["The update has worked: version {version} runs.",
    "Die Aktualisierung ist gelungen: Es läuft Version {version}."],
  "update.restart": ["Restart with version {next}", "Mit Version {next} neu starten"],
  "update.restart-question": ["Restart the speaker with version {next}? The music stops for a minute.",
    "Den Lautsprecher mit Version {next} neu starten? Die Musik schweigt für eine Minute."],
  "update.problem.download": ["The update could not be downloaded. Is the address right, and the network there?",
    "Die Aktualisierung ließ sich nicht herunterladen. Stimmt die Adresse, und ist das Netz da?"],
  "update.problem.noRoom": ["There is no room for the update. Delete some music.",
    "Für die Aktualisierung ist kein Platz. Bitte Musik löschen."],
  "update.problem.wrongSignature": ["This file is not from the maker of this speaker, or it is damaged.",
    "Diese Datei ist nicht vom Hersteller dieses Lautsprechers, oder sie ist beschädigt."],
  "update.problem.tooShort": ["This file is not an update.", "Diese Datei ist keine Aktualisierung."],
  "update.problem.damaged": ["The file is damaged or not complete. Try again.",
    "Die Datei ist beschädigt oder nicht vollständig. Bitte noch einmal."],
  "update.problem.otherBoard": ["This update is for another board.",
    "Diese Aktualisierung ist für ein anderes Gerät."],
  "update.problem.older": ["This update is older than the version that runs.",
    "Diese Aktualisierung ist älter als die Version, die läuft."],
  "update.problem.onTrial": ["The version that runs is still on trial. Try again in a few minutes.",
    "Die Version, die läuft, wird noch erprobt. Bitte in ein paar Minuten noch einmal."],
  "update.problem.interrupted": ["The update was interrupted. Try again.",
    "Die Aktualisierung wurde unterbrochen. Bitte noch einmal."],
  "update.problem.fellBack": ["The new version did not run well. The speaker is back at version {version}.",
    "Die neue Version lief nicht gut. Der Lautsprecher ist zurück bei Version {version}."],
  "update.problem.other": ["The update has failed: {message}", "Die Aktualisierung ist fehlgeschlagen: {message}"],
  "system.title": ["System", "System"],
  "system.version": ["Tonearm {version}", "Tonearm {version}"],
  "system.network": ["Restart the network", "Netz neu starten"],
  "system.network-question": ["Restart the network? The connection is lost for a moment.",
    "Das Netz neu starten? Die Verbindung geht kurz verloren."],
  "system.network-done": ["The network restarts.", "Das Netz startet neu."],
  "system.restart": ["Restart", "Neu starten"],
  "system.restart-question": ["Restart the speaker? The music stops for a minute.",
    "Den Lautsprecher neu starten? Die Musik schweigt für eine Minute."],
  "system.restart-done": ["The speaker restarts.", "Der Lautsprecher startet neu."],
  "system.off": ["Power off", "Ausschalten"],
  "system.off-question": ["Power off the speaker? It can only be started again at the device.",
    "Den Lautsprecher ausschalten? Er lässt sich nur am Gerät wieder einschalten."],
  "system.off-done": ["The speaker powers off.", "Der Lautsprecher schaltet sich aus."]
};

const LANGUAGE = /^de\b/.test(navigator.language) ? "de" : "en";
const FORM = LANGUAGE === "de" ? 1 : 0;

// Returns a text of the page with values in place of the braces.
function text(key, values) {
  let line = TEXTS[key][FORM];
  Object.keys(values || {}).forEach(name => {
    line = line.split("{" + name + "}").join(values[name]);
  });
  return line;
}

function hasText(key) {
  return TEXTS[key] !== undefined;
}

// Returns a text with a number, such as "1 track" or "2,000 tracks".
function counted(key, number) {
  return text(key + (number === 1 ? ".one" : ".other"), { count: number.toLocaleString(LANGUAGE) });
}

// Returns seconds as 3:05 or 1:02:03.
function clock(seconds) {
  const whole = Math.max(0, Math.floor(seconds));
  const two = number => String(number).padStart(2, "0");
  const [hours, minutes] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60];
  return (hours ? hours + ":" + two(minutes) : minutes) + ":" + two(whole % 60);
}

function megabytes(bytes) {
  return Math.round(bytes / 1048576).toLocaleString(LANGUAGE) + " MB";
}

function dateAndTime(seconds) {
  return new Date(seconds * 1000).toLocaleString(LANGUAGE, { dateStyle: "medium", timeStyle: "short" });
}

// Names of files that are not UTF-8 have a character of U+EF80 to U+EFFF for each such byte (docs/control.md).
function printable(name) {
  return name.replace(/[\uef80-\uefff]/g, letter => "\\x" + (letter.charCodeAt(0) - 0xef00).toString(16));
}

// Returns a name for music without a title, from its path or address.
function nameOf(path) {
  const product = /^tonearm:(track|video)\/(.*)$/.exec(path);
  if (product) return text("product." + product[1], { id: product[2] });
  return printable(path.replace(/\/+$/, "").split("/").pop().replace(/\.\w{2,5}$/, ""));
}

// ---------------------------------------- Elements

function byId(id) {
  return document.getElementById(id);
}

// Makes an element. `options`: class, text, label (for screen readers), click, and attributes by their names.
function make(tag, options, ...children) {
  const element = document.createElement(tag);
  if (tag === "button") element.type = "button";
  Object.keys(options || {}).forEach(name => {
    const value = options[name];
    if (name === "class") element.className = value;
    else if (name === "text") element.textContent = value;
    else if (name === "label") element.setAttribute("aria-label", value);
    else if (name === "click") element.addEventListener("click", value);
    else if (typeof value === "boolean") element[name] = value;
    else element.setAttribute(name, value);
  });
  element.append(...children.filter(child => child));
  return element;
}

// Makes an element of a picture.
function draw(tag, attributes, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  Object.keys(attributes).forEach(name => element.setAttribute(name, attributes[name]));
  element.append(...children);
  return element;
}

function icon(name) {
  const picture = draw("svg", { class: "icon", "aria-hidden": "true" }, draw("use", {}));
  setIcon(picture, name);
  return picture;
}

// Safari 12 needs the old name of the attribute.
function setIcon(picture, name) {
  picture.firstElementChild.setAttributeNS("http://www.w3.org/1999/xlink", "xlink:href", "#icon-" + name);
}

// Shows an icon in a button that has no text.
function showIcon(button, name) {
  if (button.firstElementChild) setIcon(button.firstElementChild, name);
  else button.append(icon(name));
}

function replaceChildren(element, ...children) {
  element.textContent = "";
  element.append(...children.filter(child => child));
}

// Sets a text only if it is another one, so that screen readers do not read it again.
function setText(element, line) {
  if (element.textContent !== line) element.textContent = line;
}

function setAttribute(element, name, value) {
  if (element.getAttribute(name) !== value) element.setAttribute(name, value);
}

function setPressed(button, isPressed) {
  setAttribute(button, "aria-pressed", String(isPressed));
}

let noticeTimer = 0;

// Shows a short message for some seconds.
function notify(line, isError) {
  const notice = byId("notice");
  replaceChildren(notice, make("p", { text: line, class: isError ? "error" : "" }));
  clearTimeout(noticeTimer);
  noticeTimer = setTimeout(() => replaceChildren(notice), isError ? 10000 : 5000);
}

// Says something to screen readers alone.
function announce(line) {
  setText(byId("announcement"), line);
}

// ---------------------------------------- Server

const RETRY_MILLISECONDS = 2000;
const EVENTS = ["status", "state", "track", "queue", "volume", "position", "configuration", "problems", "failed",
  "library", "playlists", "offline"];

const server = { token: "", source: null, timer: 0 };

// Why a request was refused. `code` is one of docs/control.md, or `unreachable`.
class Refusal extends Error {
  constructor(code, message) {
    super(message);
    this.code = code;
  }
}

// Returns a text for people. The daemon's own message names details, but is English.
function refusalText(refusal) {
  const key = "error." + refusal.code;
  return hasText(key) ? text(key) : refusal.message;
}

async function fetchReply(path, options) {
  let reply = null;
  let status = 0;
  try {
    const response = await fetch("api/" + path, Object.assign({ credentials: "same-origin" }, options));
    status = response.status;
    reply = await response.json();
  } catch (error) {
    throw new Refusal("unreachable", "HTTP " + status);
  }
  if (!reply.ok) throw new Refusal(reply.error.code, reply.error.message);
  return reply;
}

function post(name, fields) {
  return fetchReply(name, {
    method: "POST",
    headers: { "Content-Type": "application/json", "Tonearm-Token": server.token },
    body: JSON.stringify(fields || {})
  });
}

// Sends a request of docs/control.md and returns its reply, or throws a Refusal.
async function request(name, fields) {
  try {
    return await postAgain(name, fields);
  } catch (refusal) {
    if (refusal.code === "login") showLogin();
    throw refusal;
  }
}

// Sends a request, and once more with a new token: the daemon has another one after each start.
async function postAgain(name, fields) {
  try {
    return await post(name, fields);
  } catch (refusal) {
    if (refusal.code !== "token") throw refusal;
    await openSession();
    return post(name, fields);
  }
}

// Waits for a request that a person has started, and shows why it was refused.
async function attempt(promise) {
  try {
    return await promise;
  } catch (refusal) {
    notify(refusal instanceof Refusal ? refusalText(refusal) : String(refusal), true);
    return null;
  }
}

// Returns whether requests can be sent; otherwise a password is needed first.
async function openSession() {
  const session = await fetchReply("session");
  server.token = session.token;
  setText(byId("name"), session.name);
  player.room = session.name;
  return !session.login;
}

async function connect() {
  disconnect();
  try {
    if (await openSession()) listen();
    else showLogin();
  } catch (refusal) {
    retryLater();
  }
}

function disconnect() {
  clearTimeout(server.timer);
  if (server.source) server.source.close();
  server.source = null;
}

function retryLater() {
  showConnected(false);
  disconnect();
  server.timer = setTimeout(connect, RETRY_MILLISECONDS);
}

// The browser connects again by itself after an interruption, but not after a refusal.
function listen() {
  const source = new EventSource("api/events");
  server.source = source;
  EVENTS.forEach(name => source.addEventListener(name, event => receive(name, JSON.parse(event.data))));
  source.addEventListener("error", () => {
    showConnected(false);
    if (source.readyState === EventSource.CLOSED && server.source === source) retryLater();
  });
}

function showConnected(isConnected) {
  const bar = byId("offline");
  setText(bar, isConnected ? "" : text("not-connected"));
  bar.hidden = isConnected;
}

// A phone that slept may have lost its connection without a sign.
function wakeUp() {
  if (!document.hidden && !byId("player").hidden) connect();
}

// Shows the form for the password in place of everything else.
function showLogin() {
  disconnect();
  shownHash = null;
  showConnected(true);
  document.body.classList.add("locked");
  ["player", "mini"].forEach(id => { byId(id).hidden = true; });
  const input = make("input", { type: "password", id: "password", autocomplete: "current-password", required: true });
  const problem = make("p", { class: "error", role: "alert" });
  const form = make("form", { class: "stack" },
    make("h2", { text: text("login.title") }),
    make("label", { for: "password", text: text("login.password") }), input, problem,
    make("button", { type: "submit", class: "main", text: text("login.send") }));
  form.addEventListener("submit", event => {
    event.preventDefault();
    logIn(input.value, problem);
  });
  mount({ title: text("login.title"), element: form });
  input.focus();
}

async function logIn(password, problem) {
  try {
    await postAgain("login", { password });
  } catch (refusal) {
    const key = { "wrong-password": "login.wrong", "too-many-attempts": "login.wait" }[refusal.code];
    setText(problem, key ? text(key) : refusalText(refusal));
    return;
  }
  document.body.classList.remove("locked");
  connect();
}

// ---------------------------------------- Player

// The members of `status`, and: `room`, the speaker's name; `heardAt`, when the position was `position`.
const player = { state: "stopped", entry: null, file: null, problems: [], position: 0, heardAt: 0, room: "Tonearm" };
// The events whose members are those of `status`.
const STATUS_EVENTS = ["status", "state", "track", "queue", "volume", "position", "problems"];
// Sliders that a person moves are not moved by events.
const held = { position: false, volume: false };

function receive(name, data) {
  const before = { entry: player.entry, file: player.file, title: player.title };
  if (name === "status") {
    showConnected(true);
    begin();
  }
  if (STATUS_EVENTS.includes(name)) {
    Object.assign(player, data);
    if (data.position !== undefined || player.entry !== before.entry) setPosition(data.position || 0);
  }
  if (["state", "problems", "volume"].includes(name)) askSoon();
  if (name === "library") library.forget();
  if (name === "failed") {
    notify(text("failed", { title: nameOf(data.file || ""), message: data.message || data.code }), true);
  }
  if (player.file !== before.file || name === "status" || name === "library") drawFavourite();
  if (player.entry !== before.entry || player.title !== before.title) announceTrack();
  drawPlayer();
  if (view.receive) view.receive(name, data);
}

function setPosition(seconds) {
  player.position = seconds;
  player.heardAt = performance.now();
}

// The position now, in seconds: events come once a second.
function position() {
  const advance = player.state === "playing" ? (performance.now() - player.heardAt) / 1000 : 0;
  return Math.min((player.position || 0) + advance, player.duration || Infinity);
}

function currentTitle() {
  if (player.entry === null) return text("player.empty");
  return player.title || nameOf(player.file || "");
}

function announceTrack() {
  if (player.entry === null) return;
  const values = { title: currentTitle(), artist: player.artist };
  announce(text(player.artist ? "player.now-by" : "player.now", values));
}

function drawPlayer() {
  const hasEntry = player.entry !== null;
  byId("player").hidden = document.body.classList.contains("locked");
  setText(byId("title"), currentTitle());
  setText(byId("mini-title"), currentTitle() + (player.artist ? " – " + player.artist : ""));
  setText(byId("artist"), player.artist || "");
  setText(byId("album"), player.album || "");
  drawCover();
  drawWaiting();
  drawButtons(hasEntry);
  drawVolume();
  drawPosition();
  setText(byId("format"), formatLine());
  setText(byId("path"), pathLine());
  drawProblems();
  drawMini();
  document.title = (hasEntry ? currentTitle() + " · " : "") + player.room;
}

function isActive() {
  return player.state === "playing" || player.state === "stalled";
}

function drawButtons(hasEntry) {
  ["toggle", "mini-toggle"].forEach(id => {
    showIcon(byId(id), isActive() ? "pause" : "play");
    setAttribute(byId(id), "aria-label", text(isActive() ? "player.pause" : "player.play"));
  });
  showIcon(byId("previous"), "previous");
  showIcon(byId("next"), "next");
  showIcon(byId("shuffle"), "shuffle");
  setPressed(byId("shuffle"), Boolean(player.shuffle));
  const repeat = player.repeat || "off";
  showIcon(byId("repeat"), repeat === "one" ? "repeat-one" : "repeat");
  byId("repeat").classList.toggle("on", repeat !== "off");
  setAttribute(byId("repeat"), "aria-label", text("player.repeat." + repeat));
  byId("favourite").disabled = !hasEntry;
}

function drawVolume() {
  showIcon(byId("mute"), player.muted ? "muted" : "volume");
  setPressed(byId("mute"), Boolean(player.muted));
  byId("volume").max = player.maximumVolume || 100;
  if (!held.volume) byId("volume").value = player.volume || 0;
  setText(byId("volume-text"), byId("volume").value + " %");
  setAttribute(byId("volume"), "aria-valuetext", byId("volume").value + " %");
}

function drawPosition() {
  const slider = byId("position");
  const hasEnd = player.entry !== null && player.duration > 0;
  slider.disabled = !hasEnd;
  slider.max = hasEnd ? Math.floor(player.duration) : 0;
  if (!held.position) slider.value = player.entry === null ? 0 : Math.floor(position());
  const shown = player.entry === null ? "" : clock(held.position ? slider.value : position());
  const end = hasEnd ? clock(player.duration) : "";
  setText(byId("elapsed"), shown);
  setText(byId("duration"), end);
  // The value of a focused slider is read aloud at each change: only those by hand count.
  if (held.position || document.activeElement !== slider) {
    setAttribute(slider, "aria-valuetext", text("player.position-text", { position: shown, duration: end }));
  }
}

function drawCover() {
  const image = byId("cover");
  const file = player.entry !== null && player.file && player.file[0] === "/" ? player.file : "";
  if (image.dataset.file === file) return;
  image.dataset.file = file;
  image.hidden = true;
  if (file) image.src = coverAddress(file);
  else image.removeAttribute("src");
}

function coverAddress(path) {
  return "api/cover?path=" + encodeURIComponent(path);
}

function drawWaiting() {
  const line = player.state === "stalled" ? waitingLine() : "";
  setText(byId("waiting"), line);
  byId("waiting").hidden = !line;
}

const ASK_MILLISECONDS = 400;
let askTimer = 0;

// Only the status says why an entry waits, and the path of an event may be that of before the change.
function askSoon() {
  clearTimeout(askTimer);
  askTimer = setTimeout(async () => {
    const status = await request("status").catch(() => player);
    Object.assign(player, { wait: status.wait, path: status.path });
    drawPlayer();
  }, ASK_MILLISECONDS);
}

function waitingLine() {
  const wait = player.wait;
  if (wait) {
    const seconds = wait.seconds === null ? "" : " " + text("wait.seconds", { seconds: Math.ceil(wait.seconds) });
    return text(hasText("wait." + wait.for) ? "wait." + wait.for : "wait.data") + seconds;
  }
  if (player.power !== "active") return text("wait.power");
  if (player.focus === "none" || player.focus === "background") return text("wait.focus");
  return text(player.problems.some(problem => problem.subject === "device") ? "wait.device" : "wait.data");
}

function kilohertz(rate) {
  return (rate / 1000).toLocaleString(LANGUAGE);
}

// Such as "FLAC · 44.1 kHz · 16 bit".
function formatLine() {
  const format = player.entry === null ? null : player.format;
  if (!format) return "";
  const parts = [format.codec.toUpperCase(), text("format.rate", { rate: kilohertz(format.sampleRate) })];
  if (format.bitDepth) parts.push(text("format.bits", { bits: format.bitDepth }));
  else if (format.bitRate) parts.push(Math.round(format.bitRate / 1000) + " kbit/s");
  if (format.convertedSampleRate) {
    parts.push(text("format.converted", { rate: kilohertz(format.convertedSampleRate) }));
  }
  return parts.join(" · ");
}

function pathLine() {
  const path = player.path;
  if (!path) return "";
  const changes = path.changes.map(change => hasText("path." + change) ? text("path." + change) : change);
  const line = path.bitPerfect ? text("path.bit-perfect") : text("path.changed", { changes: changes.join(", ") });
  return [path.dsdOverPCM ? text("path.dop") + "." : "", line, path.note || ""].filter(part => part).join(" ");
}

function problemTitle(subject) {
  const key = "problem." + subject;
  return hasText(key) ? text(key) : text("problem.board", { part: subject });
}

function drawProblems() {
  const box = byId("problems");
  const state = JSON.stringify(player.problems);
  if (box.dataset.state === state) return;
  box.dataset.state = state;
  box.hidden = player.problems.length === 0;
  replaceChildren(box, make("h2", { text: text("problems.label") }), make("ul", {}, ...player.problems.map(problem =>
    make("li", {}, make("strong", { text: problemTitle(problem.subject) }), make("p", { text: problem.message })))));
}

// The small player is for phones, on the pages without the large one.
function drawMini() {
  byId("mini").hidden = player.entry === null || document.body.classList.contains("playing")
    || document.body.classList.contains("locked");
}

// Shows whether the current entry is a favourite.
async function drawFavourite() {
  const file = player.file;
  const isFavourite = file ? await library.isFavourite(file).catch(() => false) : false;
  if (file === player.file) showFavourite(isFavourite);
}

function showFavourite(isFavourite) {
  showIcon(byId("favourite"), isFavourite ? "heart-full" : "heart");
  setPressed(byId("favourite"), isFavourite);
}

async function toggleFavourite(path) {
  const reply = await attempt(request("favourite", path ? { path } : {}));
  if (!reply) return null;
  library.mark(reply.path, reply.favourite);
  if (reply.path === player.file) showFavourite(reply.favourite);
  if (view.receive) view.receive("favourite", reply);
  return reply.favourite;
}

// Returns a function that sends values one after the other, and of those that wait only the newest. `end` is called
// when none waits.
function newestOnly(send, end) {
  let [isBusy, waiting] = [false, null];
  return async function offer(value) {
    waiting = value;
    if (isBusy) return;
    isBusy = true;
    while (waiting !== null) {
      const next = waiting;
      waiting = null;
      await send(next);
    }
    isBusy = false;
    end();
  };
}

function startPlayer() {
  const press = (id, name, fields) => byId(id).addEventListener("click", () => {
    attempt(request(name, fields ? fields() : {}));
  });
  press("toggle", "toggle");
  press("mini-toggle", "toggle");
  press("next", "next");
  press("previous", "previous");
  press("shuffle", "shuffle");
  press("mute", "mute");
  press("repeat", "repeat", () => ({ mode: { off: "all", all: "one", one: "off" }[player.repeat || "off"] }));
  byId("favourite").addEventListener("click", () => toggleFavourite(null));
  byId("cover").addEventListener("load", () => { byId("cover").hidden = false; });
  startPositionSlider();
  startVolumeSlider();
  showFavourite(false);
  setInterval(drawPosition, 500);
}

function startPositionSlider() {
  const slider = byId("position");
  slider.addEventListener("input", () => {
    held.position = true;
    drawPosition();
  });
  slider.addEventListener("change", async () => {
    setPosition(Number(slider.value));
    held.position = false;
    drawPosition();
    await attempt(request("seek", { position: Number(slider.value) }));
  });
}

function startVolumeSlider() {
  const slider = byId("volume");
  const send = newestOnly(async percent => {
    const reply = await attempt(request("volume", { percent }));
    if (reply) Object.assign(player, { volume: reply.volume, muted: reply.muted });
  }, () => {
    held.volume = false;
    drawVolume();
  });
  slider.addEventListener("input", () => {
    held.volume = true;
    drawVolume();
    send(Number(slider.value));
  });
}

// ---------------------------------------- Sheet

const sheet = { opener: null };

// Opens the sheet over the page. Escape or a click beside it closes it.
function openSheet(title, ...children) {
  if (byId("shade").hidden) sheet.opener = document.activeElement;
  setText(byId("sheet-title"), title);
  replaceChildren(byId("sheet-body"), ...children,
    make("button", { class: "wide", text: text("cancel"), click: closeSheet }));
  byId("shade").hidden = false;
  const input = byId("sheet-body").querySelector("input");
  (input || byId("sheet-title")).focus();
}

function closeSheet() {
  byId("shade").hidden = true;
  replaceChildren(byId("sheet-body"));
  const opener = sheet.opener;
  sheet.opener = null;
  if (opener && document.contains(opener)) opener.focus();
  else focusHeading();
}

// Keeps the focus in the open sheet.
function onSheetKey(event) {
  if (byId("shade").hidden) return;
  if (event.key === "Escape") closeSheet();
  if (event.key !== "Tab") return;
  const stops = Array.from(byId("sheet").querySelectorAll("button, input, select, a[href]"));
  const isOutside = !byId("sheet").contains(document.activeElement);
  const end = event.shiftKey ? stops[0] : stops[stops.length - 1];
  if (isOutside || document.activeElement === end || (event.shiftKey && !stops.includes(document.activeElement))) {
    event.preventDefault();
    stops[event.shiftKey ? stops.length - 1 : 0].focus();
  }
}

function startSheet() {
  document.addEventListener("keydown", onSheetKey);
  byId("shade").addEventListener("click", event => {
    if (event.target === byId("shade")) closeSheet();
  });
}

// A menu. `actions` are pairs of a text and a function; others are left out.
function openMenu(title, actions) {
  openSheet(title, ...actions.filter(action => action).map(([label, run]) =>
    make("button", { class: "wide", text: label, click: () => { closeSheet(); run(); } })));
}

function ask(question, label, run) {
  openSheet(question, make("button", { class: "wide danger", text: label, click: () => { closeSheet(); run(); } }));
}

// Asks for a name of at most 200 bytes, as playlists have it.
function askForName(title, value, run) {
  const input = make("input", { id: "sheet-input", type: "text", maxlength: "200", required: true, value });
  const form = make("form", { class: "stack" }, make("label", { for: "sheet-input", text: text("playlists.name") }),
    input, make("button", { type: "submit", class: "main", text: text("playlists.save") }));
  form.addEventListener("submit", event => {
    event.preventDefault();
    const name = input.value.trim();
    if (!name) return;
    closeSheet();
    run(name);
  });
  openSheet(title, form);
}

// ---------------------------------------- Products

const MOST_ENTRIES = 500;
// A request has at most 65,536 bytes. In JSON a letter may take six.
const MOST_BYTES = 40000;
const MOST_KNOWN = 5000;

// The tracks of the library that the page has seen, by path, for the titles of queue entries.
const library = {
  tracks: new Map(),
  folders: new Map(),
  favourites: null,

  forget() {
    this.tracks.clear();
    this.folders.clear();
    this.favourites = null;
  },

  // Looks up the music at `path`, with its whole folder. Returns its track, or null when the library has none.
  async find(path) {
    if (path[0] !== "/") return null;
    const folder = folderOf(path);
    if (!this.folders.has(folder)) this.folders.set(folder, this.loadFolder(folder));
    await this.folders.get(folder);
    return this.tracks.get(path) || null;
  },

  async loadFolder(folder) {
    try {
      (await allEntries("library-list", { list: "tracks", of: folder })).forEach(track => this.add(track));
    } catch (refusal) {
      // Without a library, entries have the names of their files.
    }
  },

  add(track) {
    if (this.tracks.size > MOST_KNOWN) this.forget();
    this.tracks.set(track.path, track);
  },

  // Music outside of the library can be a favourite, too.
  async isFavourite(path) {
    const track = await this.find(path);
    if (track) return track.favourite;
    if (!this.favourites) this.favourites = request("library-list", { list: "favourites", count: MOST_ENTRIES });
    return (await this.favourites).entries.some(entry => entry.path === path);
  },

  mark(path, isFavourite) {
    this.favourites = null;
    if (this.tracks.has(path)) this.tracks.get(path).favourite = isFavourite;
  }
};

// Returns the folder of a file; the folder of a cue sheet for one of its tracks.
function folderOf(path) {
  const folder = path.slice(0, path.lastIndexOf("/"));
  return /\.cue$/i.test(folder) ? folder.slice(0, folder.lastIndexOf("/")) : folder;
}

// Returns all entries of a list that comes in pages.
async function allEntries(name, fields) {
  const entries = [];
  for (;;) {
    const reply = await request(name, Object.assign({ from: entries.length, count: MOST_ENTRIES }, fields));
    entries.push(...reply.entries);
    if (reply.entries.length === 0 || entries.length >= reply.count) return entries;
  }
}

// The paths of an album, an artist, …: functions that a row or a page offers for its music.
const paths = {
  of: (...all) => async () => all,

  tracksOf: of => async () => (await allEntries("library-list", { list: "tracks", of })).map(track => track.path),

  album: id => paths.tracksOf(String(id)),

  // The albums of an artist or a genre, one after the other.
  albumsOf: id => async () => {
    const found = [];
    for (const album of await allEntries("library-list", { list: "albums", of: String(id) })) {
      found.push(...await paths.album(album.id)());
    }
    return found;
  },

  playlist: name => async () => [(await request("playlist", { name, count: 0 })).path]
};

// Splits paths into lists that fit into a request.
function portions(all) {
  const result = [];
  let bytes = MOST_BYTES;
  all.forEach(path => {
    const length = new Blob([JSON.stringify({ path })]).size + 1;
    if (bytes + length > MOST_BYTES || result[result.length - 1].length >= MOST_ENTRIES) {
      result.push([]);
      bytes = 0;
    }
    bytes += length;
    result[result.length - 1].push({ path });
  });
  return result;
}

// Replaces the queue and plays, from the one at `index` among the paths.
async function playNow(find, index) {
  const parts = portions(await find());
  if (parts.length === 0) throw new Refusal("no-music", "");
  const isInFirst = index === undefined || index < parts[0].length;
  const start = isInFirst && index !== undefined ? { index, play: true } : { play: isInFirst };
  await request("queue-set", Object.assign({ products: parts[0] }, start));
  for (const products of parts.slice(1)) await request("queue-add", { products });
  if (!isInFirst) await request("play", { index });
  notify(text("action.playing"));
}

async function playNext(find) {
  let index = player.index === null ? 0 : player.index + 1;
  let added = 0;
  for (const products of portions(await find())) {
    const reply = await request("queue-insert", { products, index });
    index += reply.added;
    added += reply.added;
  }
  notify(counted("added", added));
}

async function addTo(name, fields, find) {
  let added = 0;
  for (const products of portions(await find())) {
    added += (await request(name, Object.assign({ products }, fields))).added;
  }
  notify(counted("added", added));
}

// The menu of music: what every track, album, artist, folder and playlist has.
function musicActions(title, find) {
  return [
    [text("action.play"), () => attempt(playNow(find))],
    [text("action.next"), () => attempt(playNext(find))],
    [text("action.add"), () => attempt(addTo("queue-add", {}, find))],
    [text("action.playlist"), () => attempt(choosePlaylist(title, find))]
  ];
}

function trackActions(track) {
  const actions = musicActions(titleOf(track), paths.of(track.path));
  const isFavourite = track.favourite;
  actions.push([text(isFavourite ? "action.unfavour" : "action.favour"), async () => {
    const answer = await toggleFavourite(track.path);
    if (answer !== null) track.favourite = answer;
  }]);
  if (/^tonearm:/.test(track.path)) actions.push([text("action.keep"), () => attempt(keep(track.path))]);
  return actions;
}

async function keep(path) {
  await request("offline-add", { products: [{ path }] });
  notify(text("action.kept"));
}

async function choosePlaylist(title, find) {
  const names = (await allEntries("playlists", {})).map(entry => entry.name);
  const add = name => attempt(addTo("playlist-add", { name }, find));
  openMenu(text("action.playlist"), [
    [text("playlists.new"), () => askForName(text("playlists.new"), title, add)],
    ...names.map(name => [printable(name), () => add(name)])
  ]);
}

async function savePlaylist(name) {
  try {
    await request("playlist-save", { name });
  } catch (refusal) {
    if (refusal.code !== "playlist-exists") throw refusal;
    ask(text("playlists.replace", { name }), text("playlists.replace-do"), () => attempt(replacePlaylist(name)));
    return;
  }
  notify(text("playlists.saved", { name }));
}

async function replacePlaylist(name) {
  await request("playlist-save", { name, replace: true });
  notify(text("playlists.saved", { name }));
}

function titleOf(track) {
  return track.title || nameOf(track.path);
}

// ---------------------------------------- Lists

const PAGE = 100;
const MOST_PAGES = 20;
const SPARE_ROWS = 8;
const SETTLE_MILLISECONDS = 80;

// A list of any length. Only the rows in sight exist as elements, and pages of 100 entries are loaded when needed.
//
// Options:
//   label     the list's name for screen readers
//   load      (from, count) → a promise of { count, entries }
//   describe  (entry, index) → a row: title, detail, side, href or click, isCurrent, actions
//   empty     the text for no entries
//   first     the reply with the first page, if it is known
//   settled   (entries) → a promise; the rows in sight are drawn again after it
//   move      (entry, index) → a promise; with it, rows can be moved
class PagedList {
  constructor(options) {
    this.options = options;
    this.pages = new Map();
    this.rows = new Map();
    this.count = null;
    this.generation = 0;
    this.moving = 0;
    this.moves = Promise.resolve();
    this.box = make("div", { class: "list", role: "list", label: options.label });
    this.message = make("p", { class: "note", text: text("loading") });
    this.element = make("div", {}, this.message, this.box);
    this.onScroll = () => this.drawSoon();
    window.addEventListener("scroll", this.onScroll, { passive: true });
    window.addEventListener("resize", this.onScroll);
    this.ready = options.first ? this.accept(0, options.first, 0) : this.loadPage(0);
  }

  stop() {
    window.removeEventListener("scroll", this.onScroll);
    window.removeEventListener("resize", this.onScroll);
    clearTimeout(this.timer);
    this.isStopped = true;
  }

  // Loads the rows in sight again. The old ones stay until then. Waits for the end of moves.
  refresh() {
    this.wantsRefresh = this.moving > 0;
    if (this.wantsRefresh) return;
    this.generation += 1;
    this.loadPage(Math.floor(this.range()[0] / PAGE));
  }

  entry(index) {
    const page = this.pages.get(Math.floor(index / PAGE));
    return page && page.entries ? page.entries[index % PAGE] : undefined;
  }

  async loadPage(number) {
    const generation = this.generation;
    const page = this.pages.get(number) || {};
    if (page.asked === generation) return;
    page.asked = generation;
    this.pages.set(number, page);
    try {
      const reply = await this.loadWhole(number * PAGE);
      const isCurrent = generation === this.generation && this.moving === 0 && !this.isStopped;
      if (isCurrent) this.accept(number, reply, generation);
    } catch (refusal) {
      page.asked = -1;
      this.showRefusal(refusal);
    }
  }

  // A reply has fewer entries where a line has no room for more.
  async loadWhole(from) {
    const reply = await this.options.load(from, PAGE);
    const entries = reply.entries;
    while (entries.length > 0 && entries.length < Math.min(PAGE, reply.count - from)) {
      const rest = await this.options.load(from + entries.length, PAGE - entries.length);
      if (rest.entries.length === 0) break;
      entries.push(...rest.entries);
    }
    return { count: reply.count, entries };
  }

  accept(number, reply, generation) {
    this.pages.set(number, { entries: reply.entries, asked: generation });
    this.count = reply.count;
    setText(this.message, reply.count === 0 ? this.options.empty : "");
    this.message.hidden = reply.count > 0;
    this.forgetPages(number);
    this.draw();
    this.settleSoon();
  }

  // A phone has no room for all pages of a long list.
  forgetPages(near) {
    const far = (a, b) => Math.abs(b - near) - Math.abs(a - near);
    Array.from(this.pages.keys()).sort(far).slice(0, Math.max(0, this.pages.size - MOST_PAGES))
      .forEach(number => this.pages.delete(number));
  }

  showRefusal(refusal) {
    this.message.hidden = false;
    replaceChildren(this.message, refusalText(refusal) + " ",
      make("button", { text: text("retry"), click: () => this.refresh() }));
  }

  rowHeight() {
    return 3.75 * parseFloat(getComputedStyle(document.documentElement).fontSize);
  }

  // The rows in sight, and some more: from, and to without it.
  range() {
    const [height, top] = [this.rowHeight(), this.box.getBoundingClientRect().top];
    const from = Math.floor(-top / height) - SPARE_ROWS;
    const to = Math.ceil((window.innerHeight - top) / height) + SPARE_ROWS;
    const limit = this.count || 0;
    return [Math.max(0, Math.min(from, limit)), Math.max(0, Math.min(to, limit))];
  }

  drawSoon() {
    if (!this.isWaiting) requestAnimationFrame(() => {
      this.isWaiting = false;
      if (!this.isStopped) this.draw();
    });
    this.isWaiting = true;
    this.settleSoon();
  }

  draw() {
    const height = this.rowHeight();
    const [from, to] = this.range();
    this.box.style.height = (this.count || 0) * height + "px";
    this.rows.forEach((row, index) => {
      const isUsed = row.element.contains(document.activeElement) || row.element.classList.contains("dragged");
      if (index >= (this.count || 0) || ((index < from || index >= to) && !isUsed)) this.removeRow(index);
    });
    for (let index = from; index < to; index++) this.drawRow(index, height);
  }

  removeRow(index) {
    this.rows.get(index).element.remove();
    this.rows.delete(index);
  }

  drawRow(index, height) {
    const row = this.rows.get(index) || this.addRow(index);
    const entry = this.entry(index);
    const description = entry === undefined ? { title: "…" } : this.options.describe(entry, index);
    row.describe(description, index, this.count);
    row.element.style.top = index * height + "px";
  }

  // Rows stand in the order of the list, for the keyboard and for screen readers.
  addRow(index) {
    const row = new Row(this, Boolean(this.options.move));
    const later = Array.from(this.rows.keys()).filter(other => other > index).sort((a, b) => a - b)[0];
    this.box.insertBefore(row.element, later === undefined ? null : this.rows.get(later).element);
    this.rows.set(index, row);
    return row;
  }

  // Loads what is in sight when the list has stopped moving.
  settleSoon() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.settle(), SETTLE_MILLISECONDS);
  }

  async settle() {
    const [from, to] = this.range();
    if (this.moving === 0 && to > from) {
      for (let page = Math.floor(from / PAGE); page <= Math.floor((to - 1) / PAGE); page++) this.loadPage(page);
    }
    if (!this.options.settled) return;
    const seen = [];
    for (let index = from; index < to; index++) seen.push(this.entry(index));
    await this.options.settled(seen.filter(entry => entry !== undefined));
    if (!this.isStopped) this.draw();
  }

  // Returns an action for the entry at `index`. It is refused if another client has put another entry there meanwhile.
  guarded(index, run) {
    const name = entry => entry && (entry.entry || entry.path);
    const before = name(this.entry(index));
    return () => {
      if (name(this.entry(index)) === before) run();
      else notify(text("error.no-such-entry"), true);
    };
  }

  // Moves an entry here at once, and at the daemon in the order of the moves.
  moveEntry(from, to) {
    const entry = this.entry(from);
    if (entry === undefined || to < 0 || to >= this.count || to === from) return;
    this.moveHere(from, to);
    this.moving += 1;
    this.moves = this.moves.then(() => attempt(this.options.move(entry, to, from))).then(() => {
      this.moving -= 1;
      if (this.moving === 0 && !this.isStopped) this.refresh();
    });
    const title = this.options.describe(entry, to).title;
    announce(text("row.moved", { title, position: to + 1, count: this.count }));
  }

  moveHere(from, to) {
    const step = from < to ? 1 : -1;
    const entry = this.entry(from);
    for (let index = from; index !== to; index += step) this.put(index, this.entry(index + step));
    this.put(to, entry);
    this.draw();
  }

  put(index, entry) {
    const page = this.pages.get(Math.floor(index / PAGE));
    if (page && page.entries) page.entries[index % PAGE] = entry;
  }

  // Moves by the keyboard: the focus stays with the entry.
  moveByKey(from, to) {
    if (to < 0 || to >= this.count) return;
    this.moveEntry(from, to);
    if (!this.rows.has(to)) this.drawRow(to, this.rowHeight());
    const row = this.rows.get(to);
    row.grip.focus({ preventScroll: true });
    row.element.scrollIntoView({ block: "nearest" });
  }

  scrollTo(index) {
    const top = window.pageYOffset + this.box.getBoundingClientRect().top + index * this.rowHeight();
    window.scrollTo(0, Math.max(0, top - window.innerHeight / 3));
  }
}

// One row of a list. Its elements stay, and show another entry when the list changes, so that the focus stays as well.
class Row {
  constructor(list, canMove) {
    this.list = list;
    this.title = make("span", { class: "row-title" });
    this.detail = make("span", { class: "row-detail" });
    this.side = make("span", { class: "row-side" });
    this.main = null;
    this.more = make("button", { class: "round", click: () => this.openMenu() }, icon("more"));
    this.grip = canMove ? make("button", { class: "round grip" }, icon("grip")) : null;
    this.element = make("div", { class: "row", role: "listitem" });
    this.element.append(...[this.grip, this.more].filter(part => part));
    if (this.grip) this.watchGrip();
  }

  describe(description, index, count) {
    this.description = description;
    this.index = index;
    const title = description.title;
    setText(this.title, title);
    setText(this.detail, description.detail || "");
    setText(this.side, description.side || "");
    this.setMain(description);
    setAttribute(this.element, "aria-posinset", String(index + 1));
    setAttribute(this.element, "aria-setsize", String(count));
    this.element.classList.toggle("current", Boolean(description.isCurrent));
    this.more.hidden = !description.actions;
    setAttribute(this.more, "aria-label", text("more-of", { title }));
    if (this.grip) setAttribute(this.grip, "aria-label", text("row.move", { title }));
  }

  // The main part is a link to a page, or a button that plays.
  setMain(description) {
    const tag = description.href ? "A" : "BUTTON";
    if (!this.main || this.main.tagName !== tag) {
      if (this.main) this.main.remove();
      this.main = make(tag.toLowerCase(), { class: "row-main" }, make("span", { class: "row-text" }, this.title,
        this.detail), this.side);
      if (tag === "BUTTON") this.main.addEventListener("click", () => this.run());
      this.element.insertBefore(this.main, this.more);
    }
    if (description.href) setAttribute(this.main, "href", description.href);
    if (description.isCurrent) setAttribute(this.main, "aria-current", "true");
    else this.main.removeAttribute("aria-current");
  }

  run() {
    if (this.description.click) this.description.click();
  }

  openMenu() {
    const [list, index] = [this.list, this.index];
    const move = (key, to) => [text(key), list.guarded(index, () => list.moveEntry(index, to))];
    const moves = !this.grip ? [] : [
      index > 0 ? move("row.top", 0) : null,
      index > 0 ? move("row.up", index - 1) : null,
      index < list.count - 1 ? move("row.down", index + 1) : null
    ];
    openMenu(this.description.title, this.description.actions().concat(moves));
  }

  watchGrip() {
    this.grip.addEventListener("keydown", event => {
      const step = { ArrowUp: -1, ArrowDown: 1 }[event.key];
      if (!step) return;
      event.preventDefault();
      this.list.moveByKey(this.index, this.index + step);
    });
    // Safari 12 has no pointer events: there the menu moves entries.
    this.grip.addEventListener("pointerdown", event => {
      if (event.isPrimary && event.button === 0) new Drag(this, event);
    });
  }
}

const SCROLL_EDGE = 90;
const SCROLL_STEP = 12;

// A row that follows the finger or the mouse. Near an edge of the window the page scrolls. The list is not loaded again
// before the end.
class Drag {
  constructor(row, event) {
    this.row = row;
    this.list = row.list;
    this.list.moving += 1;
    this.pointer = event.clientY;
    this.offset = event.clientY - row.element.getBoundingClientRect().top;
    this.marker = make("div", { class: "marker" });
    this.list.box.append(this.marker);
    row.element.classList.add("dragged");
    row.grip.setPointerCapture(event.pointerId);
    this.handlers = {
      pointermove: moved => { this.pointer = moved.clientY; this.follow(); },
      pointerup: () => this.end(true),
      pointercancel: () => this.end(false)
    };
    Object.keys(this.handlers).forEach(name => row.grip.addEventListener(name, this.handlers[name]));
    this.scroll();
    this.follow();
  }

  // The index under the pointer.
  target() {
    const y = this.pointer - this.list.box.getBoundingClientRect().top;
    return Math.max(0, Math.min(this.list.count - 1, Math.floor(y / this.list.rowHeight())));
  }

  follow() {
    const height = this.list.rowHeight();
    const y = this.pointer - this.offset - this.list.box.getBoundingClientRect().top - this.row.index * height;
    this.row.element.style.transform = "translateY(" + y + "px)";
    const target = this.target();
    this.marker.style.top = (target > this.row.index ? target + 1 : target) * height + "px";
  }

  scroll() {
    if (this.hasEnded) return;
    const header = byId("tabs").getBoundingClientRect();
    const bottom = header.top > SCROLL_EDGE ? header.top : window.innerHeight;
    const isUp = this.pointer < SCROLL_EDGE;
    if (isUp || this.pointer > bottom - SCROLL_EDGE) {
      window.scrollBy(0, isUp ? -SCROLL_STEP : SCROLL_STEP);
      this.follow();
    }
    requestAnimationFrame(() => this.scroll());
  }

  end(isDropped) {
    this.hasEnded = true;
    Object.keys(this.handlers).forEach(name => this.row.grip.removeEventListener(name, this.handlers[name]));
    this.marker.remove();
    this.row.element.classList.remove("dragged");
    this.row.element.style.transform = "";
    this.list.moving -= 1;
    if (isDropped) this.list.moveEntry(this.row.index, this.target());
    if (this.list.wantsRefresh) this.list.refresh();
    this.list.drawSoon();
  }
}

// ---------------------------------------- Views

// The view in sight: `title`, `tab`, `element`, and if it has them `receive` (events), `stop`, `list` (for scrolling).
let view = {};

function mount(next) {
  if (view.stop) view.stop();
  view = next;
  replaceChildren(byId("view"), next.element);
}

function focusHeading() {
  const heading = byId("view").querySelector("h2");
  (heading || byId("main")).focus({ preventScroll: true });
}

// The head of a view: its title, and buttons as pairs of a text and a function.
function head(title, detail, buttons) {
  const heading = make("h2", { text: title, tabindex: "-1" });
  return make("div", { class: "head" }, heading, detail, make("div", { class: "actions" },
    ...(buttons || []).map(([label, click]) => make("button", { text: label, click }))));
}

// A view of one list, with a head.
function listView(tab, title, options, detail, buttons) {
  const list = new PagedList(Object.assign({ label: title, empty: text("music.empty") }, options));
  return { tab, title, list, element: make("div", {}, head(title, detail, buttons), list.element),
    stop: () => list.stop() };
}

// Buttons for all the music of a view; `others` are further actions.
function musicButtons(title, find, others) {
  return [
    [text("action.play"), () => attempt(playNow(find))],
    [text("more"), () => openMenu(title, musicActions(title, find).concat(others || []))]
  ];
}

function joined(...parts) {
  return parts.filter(part => part).join(" · ");
}

// ---- Queue

function queueView() {
  const count = make("p", { class: "note" });
  const result = listView("queue", text("queue.title"), {
    load: (from, number) => request("queue", { from, count: number }),
    describe: describeEntry,
    empty: text("queue.empty"),
    settled: lookUpEntries,
    move: (entry, index) => request("queue-move", { entry: entry.entry, index })
  }, count, [
    [text("queue.show-current"), () => { if (player.index !== null) result.list.scrollTo(player.index); }],
    [text("queue.save"), () => askForName(text("queue.save"), "", name => attempt(savePlaylist(name)))],
    [text("queue.clear"), () => ask(text("queue.clear-question"), text("queue.clear"),
      () => attempt(request("queue-clear")))]
  ]);
  result.receive = name => {
    setText(count, counted("queue.entries", player.count || 0));
    if (name === "queue" || name === "status") result.list.refresh();
    if (name === "track" || name === "library") result.list.drawSoon();
  };
  setText(count, counted("queue.entries", player.count || 0));
  return result;
}

function describeEntry(entry) {
  const track = library.tracks.get(entry.file) || {};
  const isCurrent = entry.entry === player.entry;
  const title = track.title || (isCurrent && player.title) || nameOf(entry.file);
  return {
    title,
    detail: joined(track.artist, track.album || folderName(entry.file)),
    side: track.duration ? clock(track.duration) : "",
    isCurrent,
    click: () => attempt(request("play", { entry: entry.entry })),
    actions: () => [
      [text("row.play"), () => attempt(request("play", { entry: entry.entry }))],
      [text("row.remove"), () => attempt(request("queue-remove", { entries: [entry.entry] }))],
      [text("action.playlist"), () => attempt(choosePlaylist(title, paths.of(entry.file)))]
    ]
  };
}

function folderName(path) {
  return path[0] === "/" ? nameOf(folderOf(path)) : "";
}

// The queue has paths alone: their folders have the titles.
function lookUpEntries(entries) {
  const unknown = entries.filter(entry => !library.tracks.has(entry.file));
  return Promise.all(unknown.map(entry => library.find(entry.file)));
}

// ---- Music

const MUSIC_LISTS = ["artists", "albums", "genres", "recent", "folders", "favourites", "played", "history"];
const SEARCH_MILLISECONDS = 200;
const SCAN_MILLISECONDS = 2000;
// Whether a content service is configured: a promise, once it was asked for.
let serviceAnswer = null;

function hasService() {
  if (!serviceAnswer) {
    serviceAnswer = request("offline-status").then(() => true, refusal => refusal.code !== "no-service");
  }
  return serviceAnswer;
}

// The search field, with the menu of the lists or what was found below it.
function musicView(words) {
  const results = make("div", {});
  const input = make("input", { type: "search", id: "search", autocomplete: "off", value: words,
    placeholder: text("music.search-hint") });
  const result = { tab: "music", title: text("music.title"), list: null, lists: [], asked: 0, timer: 0 };
  result.element = make("div", {}, head(text("music.title")),
    make("form", { class: "search", role: "search" }, make("label", { for: "search", text: text("music.search") }),
      input), results);
  result.stop = () => {
    clearTimeout(result.timer);
    result.asked += 1;
    result.lists.forEach(list => list.stop());
  };
  result.element.querySelector("form").addEventListener("submit", event => event.preventDefault());
  input.addEventListener("input", () => {
    clearTimeout(result.timer);
    result.timer = setTimeout(() => search(result, results, input.value, true), SEARCH_MILLISECONDS);
  });
  search(result, results, words, false);
  return result;
}

// Shows what was found for the words, unless newer ones have been typed meanwhile.
async function search(owner, results, typed, isByHand) {
  const words = typed.trim();
  const number = owner.asked += 1;
  if (isByHand) rememberSearch(words);
  let content;
  try {
    content = words ? await found(owner, words) : await musicMenu();
  } catch (refusal) {
    content = [make("p", { class: "note", text: refusal.code === "bad-request" ? text("music.nothing")
      : refusalText(refusal) })];
  }
  if (owner.asked !== number) return;
  owner.lists.filter(list => !content.includes(list.element)).forEach(list => list.stop());
  replaceChildren(results, ...content);
  owner.lists.forEach(list => list.draw());
}

// The first word makes a new page, so that the back button leads to the menu.
function rememberSearch(words) {
  const isSearch = /^#\/search\//.test(location.hash);
  const hash = words ? "#/search/" + encodeURIComponent(words) : "#/music";
  if (words && !isSearch) history.pushState(null, "", hash);
  else history.replaceState(null, "", hash);
}

async function found(owner, words) {
  const load = (from, count) => request("library-search", { words, from, count });
  const first = await load(0, PAGE);
  const parts = [];
  const section = (key, entries, describe) => {
    if (entries.length > 0) parts.push(make("h3", { text: text(key) }), shortList(text(key), entries.map(describe)));
  };
  section("music.artists", first.artists, describeName("artists"));
  section("music.albums", first.albums, describeAlbum);
  if (first.count > 0) {
    const list = new PagedList({ label: text("music.tracks"), load, first, describe: describeTrack, empty: "" });
    owner.lists.push(list);
    parts.push(make("h3", { text: text("music.tracks") }), list.element);
  }
  return parts.length > 0 ? parts : [make("p", { class: "note", role: "status", text: text("music.nothing") })];
}

// A list of few rows, which all exist.
function shortList(label, descriptions) {
  const list = { count: descriptions.length };
  return make("div", { class: "short list", role: "list", label }, ...descriptions.map((description, index) => {
    const row = new Row(list, false);
    row.describe(description, index, descriptions.length);
    return row.element;
  }));
}

async function musicMenu() {
  const link = (name, hash) => make("li", {}, make("a", { href: hash, text: text("music." + name) }));
  const links = MUSIC_LISTS.map(name => link(name, "#/" + name));
  if (await hasService()) links.push(link("kept", "#/kept"));
  return [make("ul", { class: "menu" }, ...links), libraryState()];
}

// What the library has, and how far a scan is.
function libraryState() {
  const line = make("p", { class: "note" });
  const update = async () => {
    try {
      const status = await request("library-status");
      setText(line, status.scanning ? text("music.scanning", { done: status.done, found: status.found })
        : joined(counted("music.tracks", status.tracks), counted("music.albums", status.albums)));
      if (status.scanning) setTimeout(() => { if (document.contains(line)) update(); }, SCAN_MILLISECONDS);
    } catch (refusal) {
      setText(line, refusal.code === "no-music" ? text("music.none") : refusalText(refusal));
    }
  };
  update();
  return line;
}

function hashOf(...parts) {
  return "#/" + parts.map(part => encodeURIComponent(part)).join("/");
}

// Describes an artist or a genre.
function describeName(list) {
  return ({ id, name }) => ({ title: name, href: hashOf(list, id, name),
    actions: () => musicActions(name, paths.albumsOf(id)) });
}

function describeAlbum(album) {
  return { title: album.title, detail: joined(album.artist, album.date, counted("music.tracks", album.tracks)),
    href: hashOf("albums", album.id, album.title), actions: () => musicActions(album.title, paths.album(album.id)) };
}

function describeFolder(folder) {
  return { title: nameOfFolder(folder.path), href: hashOf("folders", folder.path),
    actions: () => musicActions(nameOfFolder(folder.path), paths.of(folder.path)) };
}

function nameOfFolder(path) {
  return printable(path.split("/").pop());
}

// A track on its own, as in a search.
function describeTrack(track) {
  library.add(track);
  const plays = track.plays ? counted("music.plays", track.plays) : "";
  const when = track.heard || track.lastPlayed;
  return {
    title: titleOf(track),
    detail: joined(track.favourite && "♥", track.artist, track.album || folderName(track.path), plays,
      when && dateAndTime(when)),
    side: track.duration ? clock(track.duration) : "",
    isCurrent: track.path === player.file,
    click: () => attempt(playNow(paths.of(track.path))),
    actions: () => trackActions(track)
  };
}

// A track among others: it plays with those that follow.
function describeTrackOf(find, isNumbered) {
  return (track, index) => {
    const description = describeTrack(track);
    description.click = () => attempt(playNow(find, index));
    if (isNumbered && track.track) description.title = track.track + ". " + titleOf(track);
    return description;
  };
}

function libraryList(list, of) {
  return (from, count) => request("library-list", of === undefined ? { list, from, count }
    : { list, of: String(of), from, count });
}

function musicListView(list, describe) {
  return watched(listView("music", text("music." + list), { load: libraryList(list), describe }));
}

// Draws a list again when something plays or becomes a favourite, and loads it again when the library changes.
function watched(result) {
  result.receive = name => {
    if (name === "library" || name === "status") result.list.refresh();
    if (name === "track" || name === "queue") result.list.drawSoon();
    if (name === "favourite") result.list.refresh();
  };
  return result;
}

function albumsView(title, id) {
  return watched(listView("music", title, { load: libraryList("albums", id), describe: describeAlbum }, null,
    musicButtons(title, paths.albumsOf(id))));
}

function albumView(title, id) {
  const find = paths.album(id);
  const picture = make("img", { class: "album-cover", alt: "", hidden: true });
  picture.addEventListener("load", () => {
    picture.hidden = false;
    picture.parentElement.classList.add("pictured");
  });
  const load = async (from, count) => {
    const reply = await libraryList("tracks", id)(from, count);
    if (from === 0 && reply.entries.length > 0 && !picture.src) picture.src = coverAddress(reply.entries[0].path);
    return reply;
  };
  return watched(listView("music", title, { load, describe: describeTrackOf(find, true) }, picture,
    musicButtons(title, find)));
}

// The first folders are those of the library.
function folderView(path) {
  if (!path) {
    const load = async () => {
      const entries = (await request("library-status")).folders.map(folder => ({ path: folder }));
      return { count: entries.length, entries };
    };
    const describe = folder => Object.assign(describeFolder(folder), { title: printable(folder.path) });
    return listView("music", text("music.folders"), { load, describe });
  }
  const title = nameOfFolder(path);
  const find = paths.tracksOf(path);
  const result = watched(listView("music", title, {
    load: libraryList("tracks", path), describe: describeTrackOf(find, false), label: text("music.tracks"), empty: ""
  }, null, musicButtons(title, paths.of(path))));
  const folders = new PagedList({ label: text("music.folders"), load: libraryList("folders", path),
    describe: describeFolder, empty: "" });
  result.element.insertBefore(folders.element, result.list.element);
  result.stop = () => { folders.stop(); result.list.stop(); };
  // The folders push the tracks down.
  folders.ready.then(() => result.list.drawSoon());
  return result;
}

// ---- Playlists

function playlistsView() {
  const result = listView("playlists", text("playlists.title"), {
    load: (from, count) => request("playlists", { from, count }),
    describe: describePlaylist,
    empty: text("playlists.empty")
  }, null, [[text("queue.save"), () => askForName(text("queue.save"), "", name => attempt(savePlaylist(name)))]]);
  result.receive = name => { if (name === "playlists" || name === "status") result.list.refresh(); };
  return result;
}

function describePlaylist(playlist) {
  const name = playlist.name;
  return { title: printable(name), detail: dateAndTime(playlist.modified), href: hashOf("playlists", name),
    actions: () => musicActions(name, paths.playlist(name)).concat(playlistActions(name)) };
}

function playlistActions(name) {
  return [
    [text("playlists.rename"), () => askForName(text("playlists.rename"), name, to =>
      attempt(renamePlaylist(name, to)))],
    [text("playlists.delete"), () => ask(text("playlists.delete-question", { name: printable(name) }),
      text("playlists.delete"), () => attempt(deletePlaylist(name)))]
  ];
}

async function renamePlaylist(name, to) {
  await request("playlist-rename", { name, to });
  if (location.hash === hashOf("playlists", name)) location.replace(hashOf("playlists", to));
}

async function deletePlaylist(name) {
  await request("playlist-delete", { name });
  if (location.hash === hashOf("playlists", name)) location.hash = "#/playlists";
}

function playlistView(name) {
  const find = async () => (await allEntries("playlist", { name })).map(track => track.path);
  const describe = (track, index) => {
    const description = describeTrackOf(find, false)(track, index);
    const remove = () => attempt(request("playlist-remove", { name, from: index }));
    description.actions = () => trackActions(track).concat([[text("row.remove"), result.list.guarded(index, remove)]]);
    return description;
  };
  const result = watched(listView("playlists", printable(name), {
    load: (from, count) => request("playlist", { name, from, count }),
    describe,
    empty: text("playlists.no-entries"),
    move: (entry, index, from) => request("playlist-move", { name, from, index })
  }, null, musicButtons(name, paths.playlist(name), playlistActions(name))));
  const receiveOthers = result.receive;
  result.receive = event => {
    if (event === "playlists") result.list.refresh();
    else receiveOthers(event);
  };
  return result;
}

// ---- Offline copies

const KEPT_MILLISECONDS = 500;

function keptView() {
  const summary = make("div", { role: "status" });
  const all = name => () => attempt(request(name, { all: true })).then(() => result.receive("offline", {}));
  const [jobs, copies] = [keptList("offline-jobs", "kept.downloads", describeJob),
    keptList("offline-items", "kept.copies", describeCopy)];
  const result = { tab: "music", title: text("kept.title"), timer: 0 };
  result.element = make("div", {}, head(text("kept.title"), summary, [
    [text("kept.pause-all"), all("offline-pause")], [text("kept.resume-all"), all("offline-resume")]
  ]), jobs.element, copies.element);
  const update = () => {
    result.timer = 0;
    attempt(Promise.all([showKeptSummary(summary), jobs.load(), copies.load()]));
  };
  // Progress comes often: the lists are loaded at most twice a second.
  result.receive = name => {
    const isNews = name === "offline" || name === "status";
    if (isNews && !result.timer) result.timer = setTimeout(update, KEPT_MILLISECONDS);
  };
  result.stop = () => clearTimeout(result.timer);
  update();
  return result;
}

async function showKeptSummary(summary) {
  const status = await request("offline-status");
  const values = { kept: status.kept, size: megabytes(status.bytes),
    budget: status.budget === null ? "" : megabytes(status.budget) };
  const lines = [text(status.budget === null ? "kept.summary" : "kept.summary-budget", values),
    status.nearlyFull ? text("kept.nearly-full") : "", status.waitsFor ? text("kept.waits." + status.waitsFor) : ""];
  replaceChildren(summary, ...lines.filter(line => line).map(line => make("p", { class: "note", text: line })));
}

// A list that comes in pages with a cursor. As many pages as a person has asked for are shown.
function keptList(name, key, describe) {
  const box = make("div", {});
  let pages = 1;
  const load = async () => {
    const entries = [];
    let after = null;
    for (let page = 0; page < pages; page++) {
      const reply = await request(name, after === null ? {} : { after });
      entries.push(...reply.entries);
      after = reply.next;
      if (after === null) break;
    }
    const more = after === null ? null : make("button", { text: text("kept.more"), click: () => {
      pages += 1;
      attempt(load());
    } });
    redraw(entries, more);
  };
  const redraw = (entries, more) => {
    const focused = Array.from(box.querySelectorAll("a, button")).indexOf(document.activeElement);
    replaceChildren(box, make("h3", { text: text(key) }),
      entries.length > 0 ? shortList(text(key), entries.map(describe)) : make("p", { text: text("kept.none") }), more);
    const buttons = box.querySelectorAll("a, button");
    if (focused >= 0 && buttons.length > 0) buttons[Math.min(focused, buttons.length - 1)].focus();
  };
  return { element: box, load };
}

function keptAction(key, name, product) {
  return [text(key), () => attempt(request(name, { products: [{ path: product }] }).then(() =>
    view.receive && view.receive("offline", {})))];
}

function keptTitle(entry) {
  return entry.title || nameOf(entry.product);
}

function keptState(entry) {
  const reason = entry.reason || "";
  return text("kept.state." + entry.state, { percent: entry.percent === undefined ? "" : entry.percent, reason });
}

function describeJob(job) {
  const isHeld = job.state === "paused" || job.state === "failed";
  return {
    title: keptTitle(job),
    detail: joined(job.artist, keptState(job)),
    click: () => attempt(playNow(paths.of(job.product))),
    actions: () => [
      isHeld ? keptAction("kept.resume", "offline-resume", job.product)
        : keptAction("kept.pause", "offline-pause", job.product),
      keptAction("kept.cancel", "offline-cancel", job.product)
    ]
  };
}

function describeCopy(copy) {
  return {
    title: keptTitle(copy),
    detail: joined(copy.artist, keptState(copy), copy.quality && text("value." + copy.quality)),
    side: megabytes(copy.bytes),
    click: () => attempt(playNow(paths.of(copy.product))),
    actions: () => musicActions(keptTitle(copy), paths.of(copy.product))
      .concat([keptAction("kept.remove", "offline-remove", copy.product)])
  };
}

// ---- Settings

// The settings that the page has. Numbers are written with their unit.
const SETTINGS = [
  { key: "audio.device", kind: "device" },
  { key: "audio.volume-route", kind: "choice", values: ["auto", "software"] },
  { key: "audio.maximum-volume", kind: "number", unit: "%", min: 1, max: 100 },
  { key: "audio.normalization", kind: "choice", values: ["off", "track", "album"] },
  { key: "audio.pre-amp", kind: "number", unit: "dB", min: -30, max: 30 },
  { key: "audio.channels", kind: "choice", values: ["stereo", "swapped", "mono", "left", "right"] },
  { key: "audio.resampling", kind: "choice", values: ["very-high", "high", "off"] },
  { key: "player.resume", kind: "choice", values: ["playing", "paused", "empty"] },
  { key: "service.quality", kind: "choice", values: ["low", "high", "lossless", "hi-res-lossless"], ofService: true },
  { key: "offline.only", kind: "choice", values: ["yes", "no"], ofService: true },
  { key: "library.folders", kind: "fixed" }
];
// The `origin` of a value that a client has set.
const SET_BY_CLIENT = "set at run time";

function settingsView() {
  const rows = make("div", { class: "settings" });
  const version = make("p", { class: "note" });
  const login = new ServiceLogin();
  const updates = new Updates();
  const wifi = make("div", { hidden: true }, make("h3", { text: text("wifi.title") }),
    make("a", { href: "#/wifi", text: text("wifi.choose") }));
  const element = make("div", {}, head(text("settings.title")), rows, wifi, login.element,
    make("h3", { text: text("library.title") }), libraryState(), make("div", { class: "actions" },
      make("button", { text: text("library.scan"), click: () => attempt(scanLibrary()) })),
    updates.element, make("h3", { text: text("system.title") }), version, make("div", { class: "actions" },
      systemButton("system.network", "network-restart"), systemButton("system.restart", "restart"),
      systemButton("system.off", "power-off")));
  attempt(request("config-get").then(reply => {
    const isSet = key => reply.settings.some(each => each.key === key && each.value !== "none");
    wifi.hidden = !isSet("network.wifi-folder");
    if (isSet("update.folder")) updates.begin();
    return drawSettings(rows, reply.settings);
  }));
  const showVersion = () => attempt(request("version")).then(reply => {
    if (reply) setText(version, text("system.version", { version: reply.version }));
  });
  showVersion();
  return {
    tab: "settings", title: text("settings.title"), element,
    receive: (name, data) => {
      if (name === "configuration") drawSettings(rows, data.settings);
      if (name !== "status") return;
      // It is connected again, perhaps to another version.
      login.update();
      updates.update();
      showVersion();
    },
    stop: () => {
      login.stop();
      updates.stop();
    }
  };
}

async function scanLibrary() {
  await request("library-scan");
  notify(text("library.scan-begun"));
}

function systemButton(key, name) {
  const run = async () => {
    await request(name);
    notify(text(key + "-done"));
  };
  return make("button", { text: text(key), class: "danger",
    click: () => ask(text(key + "-question"), text(key), () => attempt(run())) });
}

// Draws the settings that have changed, except one that a person is changing.
async function drawSettings(rows, settings) {
  const isComplete = await hasService();
  SETTINGS.filter(setting => isComplete || !setting.ofService).forEach((setting, index) => {
    const value = settings.find(each => each.key === setting.key);
    const old = rows.children[index];
    if (old && old.dataset.value === value.value && old.dataset.origin === value.origin) return;
    const focused = old && old.contains(document.activeElement) ? document.activeElement : null;
    if (focused && focused.id === settingId(setting) && written(setting, focused) !== value.value) return;
    const row = settingRow(setting, value);
    if (old) rows.replaceChild(row, old);
    else rows.append(row);
    if (focused) byId(settingId(setting)).focus();
  });
}

function settingId(setting) {
  return "setting-" + setting.key.replace(".", "-");
}

// Returns the value of a control as the configuration file has it.
function written(setting, control) {
  return control.value + (setting.unit ? " " + setting.unit : "");
}

function settingRow(setting, value) {
  const id = settingId(setting);
  const isFixed = setting.kind === "fixed";
  const control = isFixed ? make("output", { id, text: value.value }) : settingControl(id, setting, value.value);
  const notes = [
    isFixed && text("settings.read-only"),
    value.needsRestart && !isFixed && text("settings.restart")
  ].filter(note => note);
  const row = make("div", { class: "setting", "data-value": value.value, "data-origin": value.origin },
    make("label", { for: id, text: text("setting." + setting.key) }), control,
    notes.length > 0 ? make("p", { class: "note", id: id + "-note", text: notes.join(" ") }) : null,
    value.origin === SET_BY_CLIENT && !isFixed ? make("button", { text: text("settings.reset"),
      label: text("settings.reset") + ": " + text("setting." + setting.key),
      click: () => unsetSetting(setting) }) : null);
  if (notes.length > 0) control.setAttribute("aria-describedby", id + "-note");
  return row;
}

function settingControl(id, setting, value) {
  let control;
  if (setting.kind === "choice") {
    const values = setting.values.includes(value) ? setting.values : setting.values.concat([value]);
    control = make("select", { id }, ...values.map(each => make("option", { value: each,
      text: hasText("value." + each) ? text("value." + each) : each, selected: each === value })));
  } else if (setting.kind === "number") {
    control = make("input", { id, type: "number", min: setting.min, max: setting.max, step: "1",
      value: parseInt(value, 10) });
  } else {
    control = make("select", { id });
    fillDevices(control, value);
  }
  control.addEventListener("change", () => saveSetting(setting, control));
  return control;
}

// Fills in the present device, and then the others that the machine has.
async function fillDevices(select, value) {
  const add = (device, label) => {
    const option = Array.from(select.options).find(each => each.value === device)
      || select.appendChild(make("option", { value: device, selected: device === value }));
    setText(option, label);
  };
  add("auto", text("device.auto"));
  if (value !== "auto") add(value, value);
  const reply = await attempt(request("devices"));
  if (!reply) return;
  reply.cards.forEach(card => card.devices.forEach(each => add(each.device, deviceLabel(card, each))));
}

function deviceLabel(card, { device, busy, error }) {
  const label = card.name + " – " + device;
  if (busy) return text("device.busy", { device: label });
  return error ? text("device.unusable", { device: label }) : label;
}

async function saveSetting(setting, control) {
  try {
    const reply = await request("config-set", { key: setting.key, value: written(setting, control) });
    control.removeAttribute("aria-invalid");
    notify(text(reply.inForce ? "settings.saved" : "settings.saved-restart"));
  } catch (refusal) {
    control.setAttribute("aria-invalid", "true");
    notify(text("settings.rejected", { message: refusalText(refusal) }), true);
  }
}

async function unsetSetting(setting) {
  const reply = await attempt(request("config-unset", { key: setting.key }));
  if (reply) notify(text(reply.inForce ? "settings.saved" : "settings.saved-restart"));
}

// ---- Login to the music service

const LOGIN_MILLISECONDS = 2000;
// In modules, around a QR code (ISO/IEC 18004).
const QUIET_ZONE = 4;

// The part of the settings that logs in to the music service. It stays hidden without one.
class ServiceLogin {
  constructor() {
    this.state = make("p", { role: "status" });
    this.problem = make("p", { class: "error", role: "alert" });
    this.prompt = make("div", { class: "prompt" });
    this.actions = make("div", { class: "actions" });
    this.element = make("div", { hidden: true }, make("h3", { text: text("service.title") }), this.state, this.problem,
      this.prompt, this.actions);
    this.isStopped = false;
    this.update();
  }

  stop() {
    this.isStopped = true;
    clearTimeout(this.timer);
  }

  // Asks for the state, and again while a code is shown.
  update() {
    return request("service-status").then(status => this.show(status), () => this.updateLater());
  }

  updateLater() {
    clearTimeout(this.timer);
    if (this.isStopped || !this.prompt.firstElementChild) return;
    this.timer = setTimeout(() => this.update(), LOGIN_MILLISECONDS);
  }

  async send(name) {
    const status = await attempt(request(name));
    if (status) this.show(status);
    return status;
  }

  async logOut() {
    const status = await this.send("service-logout");
    if (status && status.loggedIn && !status.problem) notify(text("service.token"), true);
  }

  show(status) {
    this.element.hidden = status.service === null;
    setText(this.state, text(status.loggedIn ? "service.logged-in" : "service.logged-out", status));
    setText(this.problem, status.problem ? text("service.problem", { message: status.problem }) : "");
    const shown = JSON.stringify([status.loggedIn, status.prompt && status.prompt.completeAddress]);
    if (shown !== this.shown) this.redraw(status);
    this.shown = shown;
    this.updateLater();
  }

  // Draws the code and the button. The focus stays here.
  redraw(status) {
    const hasFocus = this.element.contains(document.activeElement);
    replaceChildren(this.prompt, ...(status.prompt ? loginPrompt(status.prompt) : []));
    replaceChildren(this.actions, this.button(status));
    if (hasFocus) this.actions.firstElementChild.focus();
  }

  button(status) {
    const makeButton = (key, click) => make("button", { text: text(key), click });
    if (status.prompt) return makeButton("service.cancel", () => this.send("service-cancel"));
    if (!status.loggedIn) return makeButton("service.log-in", () => this.send("service-login"));
    return makeButton("service.log-out", () =>
      ask(text("service.log-out-question"), text("service.log-out"), () => this.logOut()));
  }
}

function loginPrompt(prompt) {
  const href = prompt.completeAddress || prompt.address;
  const link = { text: prompt.address, href, target: "_blank", rel: "noopener noreferrer" };
  return [
    make("p", { text: text("service.prompt") }),
    // The service chooses the address, which must not be a script.
    make("p", {}, make(/^https?:/.test(href) ? "a" : "span", link)),
    make("p", { class: "code", text: text("service.code", { code: prompt.code }) }),
    prompt.qr && codePicture(prompt.qr)
  ];
}

// Draws a QR code. Each row is a text with a 1 for a dark module.
function codePicture(rows) {
  const size = rows.length + 2 * QUIET_ZONE;
  let path = "";
  rows.forEach((row, y) => {
    row.replace(/1+/g, (dark, x) => {
      path += "M" + (x + QUIET_ZONE) + " " + (y + QUIET_ZONE) + "h" + dark.length + "v1h-" + dark.length + "z";
    });
  });
  return draw("svg", { class: "qr", viewBox: "0 0 " + size + " " + size, role: "img", "aria-label": text("service.qr"),
    "shape-rendering": "crispEdges" }, draw("rect", { width: size, height: size, fill: "#fff" }),
  draw("path", { d: path, fill: "#000" }));
}

// ---- Updates

const UPDATE_MILLISECONDS = 1000;

// The part of the settings that updates the speaker. It stays hidden where the speaker does not take such requests.
class Updates {
  constructor() {
    this.title = make("h3", { text: text("update.title"), tabindex: "-1" });
    this.version = make("p", {});
    this.state = make("p", { role: "status" });
    this.bar = make("progress", { label: text("update.progress"), max: "1", hidden: true });
    this.problem = make("p", { class: "error", role: "alert" });
    this.address = make("input", { id: "update-address", type: "url", pattern: "https?://.+", autocomplete: "off",
      required: true, maxlength: "1000", "aria-describedby": "update-note" });
    this.form = make("form", { class: "stack" },
      make("label", { for: "update-address", text: text("update.address") }), this.address,
      make("p", { class: "note", id: "update-note", text: text("update.note") }),
      make("button", { type: "submit", text: text("update.install") }));
    this.form.addEventListener("submit", event => {
      event.preventDefault();
      this.install();
    });
    this.actions = make("div", { class: "actions" });
    this.element = make("div", { class: "updates", hidden: true }, this.title, this.version, this.state, this.bar,
      this.problem, this.actions, this.form);
    // The version that a restart from this page was to begin.
    this.expected = null;
    this.shownNext = null;
    // Only the last answer counts.
    this.count = 0;
  }

  begin() {
    this.hasBegun = true;
    this.update();
  }

  stop() {
    this.hasBegun = false;
    this.count += 1;
    clearTimeout(this.timer);
  }

  // Asks for the state, and again while something goes on.
  async update() {
    clearTimeout(this.timer);
    if (!this.hasBegun) return;
    this.count += 1;
    const number = this.count;
    let isBusy = !this.bar.hidden;
    try {
      const status = await request("update-status");
      if (number === this.count) isBusy = this.show(status);
    } catch (refusal) {
      if (refusal.code === "no-updates") this.element.hidden = true;
    }
    if (number === this.count && isBusy) this.timer = setTimeout(() => this.update(), UPDATE_MILLISECONDS);
  }

  // Returns whether something goes on.
  show(status) {
    if (this.element.hidden) {
      this.address.value = status.address || "";
      this.element.hidden = false;
    }
    const hasFocus = this.element.contains(document.activeElement);
    const isBusy = status.waiting || status.mode === "downloading" || status.mode === "installing";
    setText(this.version, status.version ? text("update.running", status) : "");
    setText(this.state, this.line(status));
    setText(this.problem, status.problem && !isBusy ? this.reason(status) : "");
    this.form.hidden = isBusy;
    this.bar.hidden = !isBusy;
    if (isBusy && status.total !== null) this.bar.value = status.done / status.total;
    else this.bar.removeAttribute("value");
    this.showRestart(isBusy ? null : status.next);
    // What had the focus may be gone.
    if (hasFocus && document.activeElement.offsetParent === null) this.title.focus();
    return isBusy;
  }

  line(status) {
    if (status.waiting) return text("update.mode.waiting");
    if (status.mode === "idle" && this.expected !== null && status.version === this.expected) return text("update.success", status);
    const key = "update.mode." + status.mode;
    return hasText(key) ? text(key, status) : "";
  }

  reason(status) {
    const key = "update.problem." + status.problem.code;
    return hasText(key) ? text(key, status) : text("update.problem.other", status.problem);
  }

  showRestart(next) {
    if (next === this.shownNext) return;
    this.shownNext = next;
    replaceChildren(this.actions, next === null ? null : make("button", { class: "main",
      text: text("update.restart", { next }), click: () => ask(text("update.restart-question", { next }),
        text("update.restart", { next }), () => attempt(this.restart(next))) }));
  }

  async install() {
    this.expected = null;
    await attempt(request("update", { address: this.address.value }));
    // Also after a refusal: somebody else may install one.
    await this.update();
  }

  async restart(next) {
    await request("restart");
    this.expected = next;
    setText(this.state, text("update.mode.restarting"));
    this.showRestart(null);
    this.title.focus();
  }
}

// ---- Wi-Fi

const WIFI_MILLISECONDS = 2000;
// A request that was sent to the speaker just before it left its network is never answered.
const WIFI_PATIENCE = 5000;
// The least strength of a signal in dBm for each bar after the first.
const SIGNAL_BARS = [-80, -70, -60];

function wifiView() {
  const wifi = new WiFi();
  return { tab: "settings", title: text("wifi.title"), element: wifi.element, stop: () => wifi.stop() };
}

// The networks that the speaker can use, and the one that it uses. While it tries one, it may be away.
class WiFi {
  constructor() {
    this.state = make("p", { role: "status" });
    this.advice = make("p", { class: "advice" });
    this.problem = make("p", { class: "error", role: "alert" });
    this.lists = make("div", {});
    this.actions = make("div", { class: "actions" },
      make("button", { text: text("wifi.scan"), click: () => attempt(this.scan()) }),
      make("button", { text: text("wifi.hidden"), click: () => this.ask(null) }));
    this.element = make("div", {}, head(text("wifi.title")), this.state, this.advice, this.problem, this.lists,
      this.actions);
    // The network that was named here, until the outcome is known.
    this.tried = null;
    this.own = null;
    // The number of times that the state was asked for. Only the last answer counts.
    this.count = 0;
    this.update();
  }

  stop() {
    this.count += 1;
    clearTimeout(this.timer);
  }

  // Asks for the state again and again.
  async update() {
    clearTimeout(this.timer);
    this.count += 1;
    const number = this.count;
    const late = new Promise((resolve, reject) => {
      setTimeout(() => reject(new Refusal("unreachable", "")), WIFI_PATIENCE);
    });
    try {
      const status = await Promise.race([request("wifi-status"), late]);
      if (number === this.count) this.show(status);
    } catch (refusal) {
      if (refusal.code === "no-wifi") {
        setText(this.state, refusalText(refusal));
        this.actions.hidden = true;
        return;
      }
    }
    if (number === this.count) this.timer = setTimeout(() => this.update(), WIFI_MILLISECONDS);
  }

  show(status) {
    if (status.accessPoint) this.own = status.accessPoint;
    const isTrying = status.mode === "trying" || (this.tried !== null && status.waiting);
    if (isTrying) return this.showTrial(status.mode === "trying" ? status.ssid : this.tried);
    const network = printable(status.ssid || "");
    const mode = status.mode === "connecting" && status.ssid ? "trying" : status.mode;
    setText(this.state, text("wifi.mode." + mode, { network, own: status.accessPoint || "" }));
    setText(this.advice, "");
    setText(this.problem, status.failed
      ? text("wifi.problem." + status.failed.problem, { network: printable(status.failed.ssid) }) : "");
    if (this.tried !== null && status.mode === "connected" && status.ssid === this.tried) {
      notify(text("wifi.joined", { network }));
    }
    // After the trial the speaker connects once more, with all networks that it knows.
    if (status.mode !== "connecting" || status.failed) this.tried = null;
    this.own = status.accessPoint;
    this.lists.hidden = this.actions.hidden = false;
    const shown = JSON.stringify([status.networks, status.known, status.ssid]);
    if (shown !== this.shown) this.drawLists(status);
    this.shown = shown;
  }

  // The text stays while the speaker is away.
  showTrial(ssid) {
    const network = printable(ssid || "");
    setText(this.state, text("wifi.mode.trying", { network }));
    // A name with blanks is not that of a machine.
    const isHost = /^[\w-]+$/.test(player.room);
    const lines = this.own ? ["closed", "success", isHost && "follow", "again"] : ["away", "success"];
    setText(this.advice, lines.filter(line => line)
      .map(line => text("wifi." + line, { network, own: this.own, room: player.room })).join(" "));
    setText(this.problem, "");
    this.lists.hidden = this.actions.hidden = true;
  }

  // Draws the lists anew. The focus stays at the same network.
  drawLists(status) {
    const focused = this.lists.contains(document.activeElement) ? document.activeElement.dataset.key : null;
    const known = name => status.known.some(each => each.ssid === name);
    const rows = status.networks.map(each => make("li", { class: "row" }, this.networkButton(each, known(each.ssid))));
    replaceChildren(this.lists, make("h3", { id: "wifi-networks", text: text("wifi.networks") }),
      rows.length > 0 ? make("ul", { class: "short", "aria-labelledby": "wifi-networks" }, ...rows)
        : make("p", { class: "note", text: text("wifi.none") }),
      ...this.knownPart(status.known));
    const again = Array.from(this.lists.querySelectorAll("button")).find(each => each.dataset.key === focused);
    if (again) again.focus();
    else if (focused !== null) focusHeading();
  }

  networkButton(network, isKnown) {
    const bars = 1 + SIGNAL_BARS.filter(least => network.signal >= least).length;
    const security = { open: "open", other: "other" }[network.security] || "secured";
    const detail = joined(text("wifi." + security), text("wifi.signal." + bars), isKnown && text("wifi.known-network"));
    const button = make("button", { class: "row-main", "data-key": "join " + network.ssid, click: () => this.ask(network) },
      make("span", { class: "row-text" }, make("span", { class: "row-title", text: printable(network.ssid) }),
        make("span", { class: "row-detail", text: detail })),
      security === "open" ? null : icon("lock"), signalPicture(bars));
    button.disabled = security === "other";
    return button;
  }

  knownPart(known) {
    if (known.length === 0) return [];
    return [make("h3", { text: text("wifi.known") })].concat(known.map(({ ssid, forgettable }) => {
      const network = printable(ssid);
      if (!forgettable) return make("p", { text: joined(network, text("wifi.fixed")) });
      const forget = () => attempt(this.send("wifi-forget", { ssid }));
      return make("p", {}, make("button", { text: text("wifi.forget", { network }), "data-key": "forget " + ssid,
        click: () => ask(text("wifi.forget-question", { network }), text("wifi.forget", { network }), forget) }));
    }));
  }

  async send(name, fields) {
    await request(name, fields);
    await this.update();
  }

  async scan() {
    await this.send("wifi-scan");
    notify(text("wifi.scan-begun"));
  }

  // Asks for the password of a network, and for its name when it is hidden (null).
  ask(network) {
    const name = make("input", { id: "wifi-name", type: "text", autocapitalize: "none", autocomplete: "off" });
    const password = make("input", { id: "wifi-password", type: "password", autocomplete: "off" });
    const show = make("button", { text: text("wifi.show"), "aria-pressed": "false", click: () => {
      password.type = password.type === "text" ? "password" : "text";
      setPressed(show, password.type === "text");
    } });
    const problem = make("p", { class: "error", role: "alert" });
    const isOpen = network && network.security === "open";
    const form = make("form", { class: "stack" },
      ...(network ? [] : [make("label", { for: "wifi-name", text: text("wifi.name") }), name]),
      ...(isOpen ? [] : [make("label", { for: "wifi-password", text: text("wifi.password") }), password, show]),
      network ? null : make("p", { class: "note", text: text("wifi.empty") }), problem,
      make("button", { type: "submit", class: "main", text: text("wifi.connect") }));
    form.addEventListener("submit", event => {
      event.preventDefault();
      this.connect({ ssid: network ? network.ssid : name.value, hidden: !network }, isOpen ? "" : password.value,
        Boolean(network) && !isOpen, problem);
    });
    openSheet(network ? printable(network.ssid) : text("wifi.hidden"), form);
  }

  async connect(fields, password, needsPassword, problem) {
    const bytes = new TextEncoder().encode(password).length;
    const isKey = /^[0-9a-fA-F]{64}$/.test(password);
    if ((needsPassword || password) && !isKey && (bytes < 8 || bytes > 63)) return setText(problem, text("wifi.rule"));
    try {
      await request("wifi-connect", password ? Object.assign({ password }, fields) : fields);
    } catch (refusal) {
      return setText(problem, refusalText(refusal));
    }
    this.tried = fields.ssid;
    closeSheet();
    this.showTrial(fields.ssid);
    this.update();
  }
}

// Bars for the strength of a signal. The text beside them says the same.
function signalPicture(bars) {
  return draw("svg", { class: "icon signal", viewBox: "0 0 24 24", "aria-hidden": "true" }, ...[1, 2, 3, 4].map(bar =>
    draw("rect", { x: 5 * bar - 3, y: 20 - 4 * bar, width: 4, height: 4 * bar, class: bar > bars ? "dim" : "" })));
}

// ---------------------------------------- Start

// From this width on the player stands beside the view.
const wide = window.matchMedia("(min-width: 56rem)");
// Where each page was scrolled to, for the back button.
const scrolled = new Map();
let shownHash = null;
let isNewPage = true;

// The views by the first part of the address after `#/`. The other parts are the arguments.
const ROUTES = {
  "": () => (wide.matches ? queueView() : { tab: "playing", title: text("nav.playing"), element: make("div", {}) }),
  queue: () => queueView(),
  music: () => musicView(""),
  search: words => musicView(words || ""),
  artists: (id, name) => (id ? albumsView(name, id) : musicListView("artists", describeName("artists"))),
  genres: (id, name) => (id ? albumsView(name, id) : musicListView("genres", describeName("genres"))),
  albums: (id, title) => (id ? albumView(title, id) : musicListView("albums", describeAlbum)),
  recent: () => musicListView("recent", describeAlbum),
  folders: path => folderView(path),
  favourites: () => musicListView("favourites", describeTrack),
  played: () => musicListView("played", describeTrack),
  history: () => musicListView("history", describeTrack),
  playlists: name => (name ? playlistView(name) : playlistsView()),
  kept: () => keptView(),
  settings: () => settingsView(),
  wifi: () => wifiView()
};

function routeParts() {
  try {
    return location.hash.replace(/^#\/?/, "").split("/").map(decodeURIComponent);
  } catch (error) {
    return [""];
  }
}

function showRoute() {
  if (document.body.classList.contains("locked")) return;
  const [name, ...values] = routeParts();
  const isFirst = shownHash === null;
  shownHash = location.hash;
  if (!byId("shade").hidden) closeSheet();
  const route = Object.prototype.hasOwnProperty.call(ROUTES, name) ? name : "";
  document.body.classList.toggle("playing", route === "" && !wide.matches);
  mount(ROUTES[route](...values));
  markTab(view.tab);
  drawMini();
  if (!isFirst) focusHeading();
  restoreScroll();
}

function markTab(name) {
  document.querySelectorAll("#tabs a").forEach(link => {
    if (link.dataset.tab === name) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  });
}

// The back button leads to where the page was; a link to its top.
async function restoreScroll() {
  const [hash, top] = [location.hash, isNewPage ? 0 : scrolled.get(location.hash) || 0];
  isNewPage = false;
  window.scrollTo(0, 0);
  if (top === 0 || !view.list) return;
  await view.list.ready;
  if (location.hash === hash) window.scrollTo(0, top);
}

function watchScrolling() {
  history.scrollRestoration = "manual";
  window.addEventListener("scroll", () => {
    if (location.hash === shownHash) scrolled.set(shownHash, window.pageYOffset);
  }, { passive: true });
  document.addEventListener("click", event => {
    const link = event.target.closest ? event.target.closest("a[href^='#/']") : null;
    if (link) isNewPage = true;
  });
}

function fillTexts() {
  document.documentElement.lang = LANGUAGE;
  document.querySelectorAll("[data-text]").forEach(element => { element.textContent = text(element.dataset.text); });
  document.querySelectorAll("[data-label]").forEach(element => {
    element.setAttribute("aria-label", text(element.dataset.label));
  });
}

// The link of the first stop of the Tab key. Its address is not a page of this script.
function watchSkipLink() {
  document.querySelector(".skip").addEventListener("click", event => {
    event.preventDefault();
    focusHeading();
  });
}

function start() {
  fillTexts();
  startPlayer();
  startSheet();
  watchSkipLink();
  watchScrolling();
  window.addEventListener("hashchange", showRoute);
  wide.addListener(showRoute);
  document.addEventListener("visibilitychange", wakeUp);
  connect();
}

// The views ask the daemon, so the first one is shown when it is connected. It may be another daemon than before.
function begin() {
  serviceAnswer = null;
  if (shownHash === null) showRoute();
}

start();
