import Media

/// The `--help` texts.
enum HelpText {
    static let program = """
        tonearm plays music files through a sound card, bit for bit and without gaps.

        Usage: tonearm COMMAND [OPTIONS] …

        Commands:
          run                 run the daemon: plays a queue for buttons and clients
          play FILE|FOLDER…   play files and folders in order
          play --daemon FILE… replace the daemon's queue and play it
          login, logout       log in to the content service, or out
          search WORDS        find music of the content service
          devices             list the sound cards and their formats
          probe FILE|FOLDER…  print formats and tags of files
          loudness FILE|FOLDER…
                              measure the loudness of music without tags, for normalization
          board …             try a board's profile on its hardware; find the DAC on the header
          update FILE|URL     install a new firmware image beside the running one

        Commands for the daemon:
          status [--watch]    track, position, volume and problems
          play, pause, toggle, stop, next, previous
          seek TIME           to SECONDS or M:SS, or with + or - from here
          volume [PERCENT]    set it, or with + or - change it; print it without an argument
          volume-up, volume-down
          mute [on|off]       mute, unmute, or toggle without an argument
          shuffle [on|off]    play in a random order or not, or toggle without an argument
          repeat [off|all|one]
          queue [list|add|insert|set|move|remove|clear]
          offline [list|status|add|remove|pause|resume|verify]
                              offline copies of the content service
          playlist            stored playlists: list, show, play, save, add, remove, move, rename, delete
          library             the music on the disks: search, artists, albums, folders
          events              what the content service is still to learn about listening
          focus LEVEL         none, background, limited or full: how much of the speaker it may use
          wifi [status|scan|connect|forget]
                              the networks of the Wi-Fi, where the system lets clients choose one
          config [get|set|unset|check|show|example]
          network-restart, restart, power-off

        Options:
          --help, -h          this text; after a command, the help for it
          --version           the version, and the license

        Exit codes: 0 success; 1 something could not be played or read; 2 the command line is wrong;
        3 the sound device cannot be used; 4 the daemon is not running or does not answer; 78 the configuration or
        a board's profile is wrong. After a signal the shell sees 128 and its number: 130 for Ctrl-C, 143 for SIGTERM.
        """

    static let run = """
        Usage: tonearm run [--config FILE]

        Runs the daemon: plays a queue that is kept across restarts, for the board's buttons and the clients of its
        socket. SIGTERM or SIGINT ends it; SIGHUP reloads the configuration. It logs to stderr, in journald's format.

        Options:
          --config FILE           the configuration; default: /etc/tonearm/tonearm.conf, and all defaults without it
          --help, -h              this text

        Exit codes: 0 a signal ended it; 1 it cannot start, for example because another one uses the same state; 2 the
        command line is wrong; 78 the configuration or the board profile is wrong.
        """

    static let board = """
        Usage: tonearm board check|watch PROFILE
               tonearm board dac NAME|auto|list

        check   checks that everything in the profile exists on this machine: card, lines, interfaces
        watch   prints every edge of the buttons and encoders and its action, until Ctrl-C
        dac     shows what a DAC on the header of a Raspberry Pi needs: by its name, the one that is there (auto), or
                all names (list)

        PROFILE is a board.conf. A running daemon uses the lines: stop it first, `systemctl stop tonearm`.

        Options of dac:
          --table FILE            the table of DACs; default: /usr/share/tonearm/dacs
          --tree FOLDER           the device tree, in which the firmware notes a HAT; default: /proc/device-tree
          --bus DEVICE            the header's I2C bus; default: /dev/i2c-1

        Options:
          --help, -h              this text

        Exit codes: 0 everything exists; 1 something is missing, or the DAC is not supported; 2 the command line is
        wrong; 78 the profile or the table is wrong.
        """

    static let update = """
        Usage: tonearm update [--force] [--json] [--config FILE] [--for-client] FILE|URL
               tonearm update --cancel [--socket PATH] [--json]

        Installs an update of the firmware image in the slot that does not run. Music plays on. The next start of the
        board tries the new version; when it does not run well for a minute, the board goes back to this one. Needs the
        rights of root. FILE or URL (http, https) is a signed bundle for this board. Ctrl-C or SIGTERM cancels it.
        --cancel cancels one that a client of the daemon has requested, such as the page.

        Options:
          --force                 also a version that is older than the running one
          --json                  write what happens to stdout, one JSON object a line
          --config FILE           the configuration whose [network] a download uses; default: /etc/tonearm/tonearm.conf
          --for-client            a client has named URL: it may lead into the local network only if its host is local
                                  by its name, or that of [update] address
          --cancel                ask the daemon to end the update that waits or runs
          --socket PATH           the control socket for --cancel
          --help, -h              this text

        JSON lines:
          event=progress          step (downloading, checking, writing, verifying), percent
          event=done              version
          event=error             code, message

        Exit codes: 0 installed; 1 refused, failed or cancelled, nothing has changed for the next start; 2 the command
        line is wrong.
        """

    static let play = """
        Usage: tonearm play [OPTIONS] [--] FILE|FOLDER|URL|tonearm:track/ID…
               tonearm play --daemon [--socket PATH] [--json] FILE|FOLDER|URL…

        Plays files (\(AudioFormats.supported)), the music in folders, cue sheets and
        playlists (M3U, PLS, XSPF), in order and without gaps. album.cue/track0003 is a track of a cue sheet,
        album.flac/ the tracks of the sheet inside of a file. A URL (http, https) is a file on a web server. Files that
        cannot be played are reported and skipped.
        With --daemon they replace the queue of the running daemon (`tonearm queue --help`). Without files the
        running daemon plays its queue (`tonearm pause --help`).

        Options:
          --device NAME           hw:CARD=name,DEV=0, hw:0,0 or another ALSA PCM that does not convert; default:
                                  the first sound card. file:FILE=music.wav,FORMAT=wav writes a file, null nothing.
          --normalize MODE        off, track or album: bring all tracks, or all albums, to one loudness; default: off
          --service URL           the content service that has the products tonearm:track/ID and tonearm:video/ID;
                                  tonearm:album/ID and tonearm:playlist/ID are their tracks
          --token-file FILE       a file with the token of the service
          --ca-file FILE          certificates (PEM) of authorities beside the system's
          --pre-amp DB            -30 to 30, added when normalizing; default: 4
          --volume PERCENT        0 to 100; default: the last one, at first the card's or -30 dB
          --start SECONDS         start position in the first file
          --format FORMAT         S32_LE, S24_LE, S24_3LE, S16_LE or IEC958_SUBFRAME_LE; default: the widest of
                                  the device
          --rate HZ               8000 to 768000: convert all to this sample rate; default: only what the device does
                                  not have
          --dsd pcm|dop           DSD as PCM, or bit for bit as DSD over PCM, for a DAC that understands it (another
                                  one plays noise) and has 24 bits and 176.4 kHz or more; default: pcm
          --buffer MILLISECONDS   10 to 10000, length of the device's buffer; default: 200
          --periods COUNT         2 to 64 periods in the buffer; default: 4
          --json                  write events to stdout, one JSON object a line
          --help, -h              this text

        Keys on a terminal:
          space                   pause or resume
          left, right             10 seconds back, forward
          down, up                quieter, louder; also with Shift and left, right
          n                       the next file
          p, b                    this file from its beginning; within its first 3 seconds, the one before
          q                       quit

        JSON lines. Members always come in this order; unknown values are null. Times are in seconds.
          event=transition        previous, file, title, artist, album, duration, format, device, path: another file is
                                  heard, or none (file is null) after the last one
          event=state             state (playing, notPlaying, stalled, idle), file, position, device, path
          event=quality           file, format, device, path: the format has changed inside a file
          event=position          file, position, duration: once a second while playing
          event=error             file, code, message: something cannot be played
          format                  codec, sampleRate, bitDepth, bitRate, quality, convertedSampleRate
          device                  name, sampleRate, channels, sampleFormat, significantBits, adaptation; null while none
                                  is open
          adaptation              kind (copied, placed, mixed), channels of the file; null where the device has them
          path                    bitPerfect, changes of the samples (rate, channels, loudness, volume, mute, depth),
                                  dsdOverPCM, note; null while no device is open

        Exit codes: 0 everything was played (damage inside a file is a warning), or you quit; 1 something
        could not be played; 2 the command line is wrong; 3 the sound device cannot be used, or is full; 130
        Ctrl-C; 143 SIGTERM.
        """

    static let confine = """
        Usage: tonearm confine [--realtime-priority N] USER -- PROGRAM [ARGUMENT]…

        For systems without systemd: runs a program, such as `tonearm run`, as USER of /etc/passwd and with its groups,
        without any privilege and with the system calls of a player alone. Needs root. The process stays the same.

        Options:
          --realtime-priority N   0 to 99: the highest real-time priority that it may use; default: 0
          --help, -h              this text

        Exit codes: that of the program; 1 it was not started; 2 the command line is wrong.
        """

    static let devices = """
        Usage: tonearm devices [--json]

        Lists the sound cards: names for `tonearm play --device`, rates, sample formats and channels of the hardware,
        and mixer controls.

        Options:
          --json       one JSON object a card: id, index, name, devices (device, name, busy, error, rates,
                       sampleFormats, minimumChannels, maximumChannels), mixerControls (name, index,
                       minimumDecibels, maximumDecibels, mute)
          --help, -h   this text

        Exit codes: 0, also without a sound card; 2 the command line is wrong.
        """

    static let probe = """
        Usage: tonearm probe [--json] [--] FILE|FOLDER…

        Prints container, codec, format, length, bit rate, tags, replay gain, the places of embedded pictures, and the
        picture beside each file (cover, folder or front; .jpg, .jpeg or .png). Nothing is decoded.

        Options:
          --json       one JSON object a file: file, container, codec, sampleRate, bitDepth, channels, frames, duration,
                       bitRate, title, artist, album, albumArtist, track, trackTotal, disc, discTotal, date (YYYY,
                       YYYY-MM or YYYY-MM-DD), genres, composers, musicBrainz (recording, release, releaseGroup,
                       artists, albumArtists), trackGain, trackPeak, albumGain, albumPeak, pictures (offset, length,
                       mediaType, kind, encoding, dropped, page), coverFile; or, for a file that cannot be read:
                       event=error, file, code, message. Unknown values are null.
          --help, -h   this text

        Exit codes: 0 all files were read; 1 some were not; 2 the command line is wrong.
        """

    static let loudness = """
        Usage: tonearm loudness [--write-tags] [--all] [--json] [--] FILE|FOLDER…
               tonearm loudness --daemon [--socket PATH] [--all] [--json] [--] FILE|FOLDER…

        Measures the loudness of music (EBU R 128) whose tags do not have it, so that normalization can bring it to one
        loudness. The files of a folder with the same album tag are one album. The results are stored for `tonearm
        play`, or by the running daemon; the files stay as they are. A file is not measured again until it has changed.
        Playlists and cue sheets are passed over. Ctrl-C ends it; finished albums stay measured.

        Options:
          --daemon                store the results in the running daemon; it must find the files at the same paths
          --socket PATH           the daemon's socket; default: TONEARM_SOCKET or /run/tonearm/control
          --write-tags            write the results into the files instead, as tags for all players: ReplayGain, or R128
                                  in Opus. Each file is replaced by a copy. For FLAC, WAV, AIFF, MP4, MP3, WavPack and
                                  Ogg; each other file is an error, and its result is stored. Only in programs that
                                  are built with TagLib
          --all                   also files whose tags have the loudness, and files that were measured before
          --json                  write the results to stdout, one JSON object a line
          --help, -h              this text

        JSON lines:
          event=file              file, result (measured, known, tagged, silent, tooShort), trackGain, trackPeak,
                                  albumGain, albumPeak: gains in dB to -18 LUFS, peaks with 1 for full scale
          event=error             file, code, message
          event=summary           complete, measured, known, tagged, withoutLoudness, failed

        Exit codes: 0 all files were measured or need it not; 1 some could not be measured; 2 the command line is
        wrong; 4 the daemon is not running or does not answer; 130 Ctrl-C.
        """
}
