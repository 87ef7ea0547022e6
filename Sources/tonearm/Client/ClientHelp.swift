// The `--help` texts of the commands for the daemon.
extension HelpText {
    private static let options = """
          --socket PATH           the daemon's socket; default: TONEARM_SOCKET of the environment, else
                                  /run/tonearm/control
          --json                  print the daemon's lines unchanged, a JSON object a line
          --help, -h              this text
        """

    private static let exitCodes = """
        Exit codes: 0 done; 1 the daemon has refused it, with the reason; 2 the command line is wrong; 4 the daemon is
        not running, cannot be reached or does not answer.
        """

    static let status = """
        Usage: tonearm status [--watch] [OPTIONS]

        Shows the daemon's track, position, volume, place in the queue, and problems.

        Options:
          --watch                 show changes until Ctrl-C or the daemon's end: a live line on a terminal, else a
                                  JSON object a line, the status first and then each event
        \(options)

        \(exitCodes)
        """

    static let events = """
        Usage: tonearm events [OPTIONS]

        Shows the events about products of the content service that wait for delivery, and how many were sent, refused
        by the service, or dropped. What they contain and how to turn them off is in docs/privacy.md.

        Options:
        \(options)

        \(exitCodes)
        """

    static let transport = """
        Usage: tonearm play|pause|toggle|stop|next|previous [OPTIONS]
               tonearm seek TIME [OPTIONS]
               tonearm volume [PERCENT] | volume-up | volume-down | mute [on|off] [OPTIONS]
               tonearm shuffle [on|off] | repeat [off|all|one] [OPTIONS]
               tonearm network-restart | restart | power-off [OPTIONS]

          play                    without files: resume, or start the queue
          toggle                  play or pause
          stop                    stop and free the sound device; the current entry starts again from its beginning
          previous                the current entry from its beginning; within its first 3 seconds, the one before
          seek 90 | 1:30 | +10 | -0:30
          volume 40 | +5 | -5     in percent; without an argument, print it
          volume-up, volume-down  one step
          mute, shuffle           on, off, or toggle without an argument
          repeat                  without an argument, print the mode
          network-restart, restart, power-off
                                  run the command that the configuration has for it

        Options:
        \(options)

        \(exitCodes)
        """

    static let queue = """
        Usage: tonearm queue [list] [OPTIONS]
               tonearm queue add|set [--play] FILE|FOLDER|URL|tonearm:track/ID… [OPTIONS]
               tonearm queue insert [--at PLACE] FILE|FOLDER|URL|tonearm:track/ID… [OPTIONS]
               tonearm queue add|set|insert --search WORDS [OPTIONS]
               tonearm queue move PLACE TO | remove PLACE|FIRST-LAST… | clear [OPTIONS]

        Places count from 1, in the order of playing, as the list shows them. A * marks the current entry. A folder
        stands for its music, in order, a playlist (M3U, PLS, XSPF) for its entries, album.cue for its tracks and
        album.cue/track0003 for one of them; the daemon must be allowed to read it. A URL (http, https) is a file on a
        web server. tonearm:album/ID and tonearm:playlist/ID stand for their tracks. If a path or a place is wrong,
        nothing is changed.

        Options:
          --play                  with set: play at once
          --at PLACE              with insert: the place of the first one; default: after the current entry
          --search                instead of files, the tracks of the content service that have all these words in
                                  title, artist or album; at most 50, or nothing is changed
          --config, --service, --ca-file
                                  for the service: see `tonearm search --help`
        \(options)

        \(exitCodes)
        """

    static let playlist = """
        Usage: tonearm playlist [list] [OPTIONS]
               tonearm playlist show|play|delete NAME [OPTIONS]
               tonearm playlist save NAME [--replace] [OPTIONS]
               tonearm playlist add NAME PATH|URL|PRODUCT… [OPTIONS]
               tonearm playlist remove NAME PLACE… | move NAME PLACE PLACE | rename NAME NEW [OPTIONS]

        The stored playlists of the daemon: files in the folder [library] playlists. Case does not count in a NAME.

          list                    the names, and when each was changed
          show                    the entries with their places, from 1
          play                    replace the queue with the playlist, and play
          save                    keep the queue as a playlist
          add                     add to the end, as `tonearm queue add` does; a new NAME is a new playlist
          remove, move            places from 1 on, also ranges: tonearm playlist remove Evening 3 5-7
          rename, delete          the playlist; the music stays

        Options:
          --replace               with save: also over a playlist of that name
        \(options)

        \(exitCodes)
        """

    static let library = """
        Usage: tonearm library [status|scan] [OPTIONS]
               tonearm library search WORDS [OPTIONS]
               tonearm library list artists|genres|recent|played|history|favourites [OPTIONS]
               tonearm library list albums [ARTIST] | tracks [ALBUM|FOLDER] | folders [FOLDER] [OPTIONS]
               tonearm library favourite|unfavourite [PATH|URL|PRODUCT] [OPTIONS]

        The music in the folders of the daemon ([library] folders).

          status                  how much there is, and how far a scan is
          scan                    look at all folders now, and wait until that has ended
          search                  tracks, albums and artists with all words, in any order and also inside of words,
                                  without regard to case and accents
          list                    recent: albums that were added last; played: tracks that were heard last; history:
                                  each of the last 1000 plays. An ARTIST or ALBUM is a name, or a number as listed
          favourite, unfavourite  mark music, or take the mark back; without a PATH the current entry

        `tonearm queue add` takes the paths.

        Options:
        \(options)

        \(exitCodes)
        """

    static let offline = """
        Usage: tonearm offline [list] [OPTIONS]
               tonearm offline add PRODUCT… [--priority N] [OPTIONS]
               tonearm offline remove|cancel|pause|resume PRODUCT…|--all [OPTIONS]
               tonearm offline status [--watch] | verify [PRODUCT…] [OPTIONS]

        Keeps products of the content service: they play without the network. A PRODUCT is tonearm:track/ID,
        tonearm:video/ID, tonearm:album/ID or tonearm:playlist/ID; `tonearm search` finds them.

          list                    downloads and offline copies: state, size, quality, valid until
          status                  the total, and a bar for each download that runs
          add                     download and keep; one that has failed is tried again
          remove                  delete offline copies and their downloads; also a copy that plays and is being
                                  downloaded again
          cancel                  end a download; a copy that was there before stays
          pause, resume           downloads; resume also tries again what has failed
          verify                  read the offline copies; damaged ones are downloaded again

        Options:
          --all                   everything, with remove, cancel, pause and resume
          --watch                 with status: follow the downloads until none is left
          --priority N            with add: higher ones go first; default: 0
          --config, --service, --ca-file
                                  for albums and playlists: see `tonearm search --help`
        \(options)

        \(exitCodes)
        """

    static let focus = """
        Usage: tonearm focus none|background|limited|full [--hold] [OPTIONS]

        How much of the speaker the daemon may use. With none and background it is silent and the sound device is
        free for other programs; with limited and full it resumes, if it was playing.

        Options:
          --hold                  only until this program ends: a crash gives the speaker back
        \(options)

        \(exitCodes)
        """

    static let wifi = """
        Usage: tonearm wifi [status] | scan [OPTIONS]
               tonearm wifi connect SSID [--password-file FILE] [--hidden] [OPTIONS]
               tonearm wifi forget SSID [OPTIONS]

        The Wi-Fi of the machine, where the system lets clients choose a network: [network] wifi-folder.

          status                  the network, the last failure, the networks in range and the known ones
          scan                    look for networks
          connect                 try a network, and wait for the outcome. One that works is used from then on;
                                  otherwise the machine goes back to the network that it had
          forget                  a network that `connect` or the page has named

        The password is read from stdin: a terminal asks for it, and does not show it. Empty is an open network.

        Options:
          --password-file FILE    the password is the first line of FILE
          --hidden                with connect: the network does not show its name
        \(options)

        \(exitCodes)
        """

    static let config = """
        Usage: tonearm config get [KEY] | set KEY VALUE | unset KEY [OPTIONS]
               tonearm config check|show [--config FILE] | example

          get                     the values that the daemon uses, and their origin
          set                     override the file's value: tonearm config set audio.maximum-volume "80 %"
          unset                   use the file's value again
          check, show             read the file without the daemon: report mistakes, or print every setting
          example                 print a file with every setting explained

        Options:
          --config FILE           the configuration; default: /etc/tonearm/tonearm.conf, and all defaults without it
        \(options)

        \(exitCodes)
        78 the configuration file is wrong.
        """
}
