// The `--help` texts of the commands for the content service.
extension HelpText {
    private static let options = """
          --config FILE           the daemon's configuration, for its service; default: /etc/tonearm/tonearm.conf
          --service URL           another service, for `tonearm play --service`
          --ca-file FILE          certificates (PEM) of authorities beside the system's
          --help, -h              this text
        """

    static let login = """
        Usage: tonearm login [OPTIONS]
               tonearm logout [OPTIONS]

        login   logs in to the content service: shows an address and a code, on a terminal as a QR code too, and waits
                until someone has let this player in there. The daemon uses the login from then on, without a restart.
        logout  removes the login from here, and tells the service.

        The login lies sealed in the state folder. That of the daemon needs its rights: use sudo. With --service it is
        that of `tonearm play --service URL`, of this user alone.

        Options:
          --json                  write JSON objects, one a line: event=prompt with code, address, completeAddress and
                                  seconds; event=done; event=error with message
        \(options)

        Exit codes: 0 done; 1 refused, too late, or the service is not reached; 2 the command line is wrong; 78 the
        configuration is wrong.
        """

    static let search = """
        Usage: tonearm search WORDS… [OPTIONS]

        Finds tracks, albums and playlists of the content service: all words must be in the title, the artist or the
        album. Prints tonearm:track/ID, which `tonearm queue add` and `tonearm play` take, and tonearm:album/ID and
        tonearm:playlist/ID for `tonearm queue add` and `tonearm offline add`. `tonearm queue add --search WORDS` adds
        all tracks.

        Options:
          --json                  one JSON object a line: product, title, artist; of a track album, and duration in
                                  seconds; of an album or a playlist the number of tracks
        \(options)

        Exit codes: 0 found; 1 nothing found, refused, or the service is not reached; 2 the command line is wrong; 78
        the configuration is wrong.
        """
}
