/// The parsed command line.
struct OriginArguments {
    enum Command: Equatable {
        case help
        case version
        case serve(ServeOptions)
        /// The owner's decision about a player that shows this code.
        case decide(code: String, isAllowed: Bool, state: String)
        case logins(state: String)
        case status(state: String, isJSON: Bool)
        case events(state: String, isJSON: Bool)
        case logout(Int64, state: String)
    }

    /// A mistake in the command line, for the user.
    struct Mistake: Error, CustomStringConvertible {
        let description: String
    }

    static let version = "0.2.0"

    static let help = """
        usage: tonearm-origin serve FOLDER [options]
               tonearm-origin approve|deny CODE [--state FOLDER]
               tonearm-origin logins | logout NUMBER [--state FOLDER]
               tonearm-origin status | events [--json] [--state FOLDER]

        serve: serves the music of a folder to Tonearm players: FLAC, WAV, AIFF, WavPack, DSD, MP3, Ogg and M4A
        with FLAC, ALAC or AAC as they are, or FLAC in segments. approve, deny: lets the player in that shows this
        code, or not. logins: lists the players that are logged in; logout ends one's login. status: what is served,
        and the entries of playlists that are not in the folder. events: what players have played, when and for how
        long; with --json each event as it arrived.

          --address A          listen at this address (127.0.0.1; 0.0.0.0 or :: for all)
          --port N             listen at this port (7470; 0 for any that is free)
          --tls-certificate F  serve over TLS with the certificate in this PEM file
          --tls-key F          the certificate's private key, a PEM file
          --token T            let only clients with this token ask (everyone)
          --token-file F       the same, from the first line of a file
          --require-login      answer only players that have logged in (`tonearm login`), or have the token
          --password-file F    people who know the password (first line of the file) may also decide about logins
                               on the page /link; implies --require-login
          --manifest KIND      bts, dash, hls or emu (dash); all other files than FLAC, and damaged FLAC, are always bts
          --encrypt cbcs       encrypt FLAC and what was encoded; players get the keys from this service
          --ffmpeg PROGRAM     encodes the qualities LOW and HIGH as AAC (ffmpeg in $PATH; none: they get lossless)
          --encoded-limit MB   keep so much of what was encoded (4096)
          --url-lifetime S     addresses of content are good for so many seconds (3600)
          --offline-revalidate S
                               players ask again for a track that they keep after so many seconds (604800)
          --offline-valid S    and play it without having asked for so many seconds (1209600)
          --public-url URL     the address of this service for players, behind a proxy; it may have a path (the one
                               that the client used)
          --sessions N         let N players stream at once; a further one takes the place of the one whose user
                               pressed play first (no limit)
          --faults FILE        misbehave on purpose, as the file says (docs/service.md, "Faults")
          --state FOLDER       where the index is kept ($XDG_STATE_HOME/tonearm-origin)
          --help, --version
        """

    let command: Command

    init(_ words: [String], _ environment: [String: String]) throws(Mistake) {
        if words.contains("--help") || words.contains("-h") || words.first == "help" {
            command = .help
        } else if words == ["--version"] {
            command = .version
        } else {
            guard let first = words.first else { throw Mistake(description: "no command") }
            let rest = Array(words.dropFirst())
            switch first {
            case "serve": command = .serve(try ServeOptions(rest, environment))
            case "approve", "deny", "logout":
                let (operand, state) = try Self.operand(rest, environment)
                guard let operand else {
                    throw Mistake(description: first == "logout" ? "logout needs a number" : "\(first) needs a code")
                }
                if first == "logout" {
                    guard let number = Int64(operand) else {
                        throw Mistake(description: "logout needs a number, not \(operand)")
                    }
                    command = .logout(number, state: state)
                } else {
                    command = .decide(code: operand, isAllowed: first == "approve", state: state)
                }
            case "status", "events":
                let isJSON = rest.contains("--json")
                let (operand, state) = try Self.operand(rest.filter { $0 != "--json" }, environment)
                if let operand { throw Mistake(description: "\(first) takes no \(operand)") }
                command =
                    first == "events" ? .events(state: state, isJSON: isJSON) : .status(state: state, isJSON: isJSON)
            case "logins":
                let (operand, state) = try Self.operand(rest, environment)
                if let operand { throw Mistake(description: "logins takes no \(operand)") }
                command = .logins(state: state)
            default: throw Mistake(description: "unknown command \(first)")
            }
        }
    }
}

extension OriginArguments {
    /// Reads the operand and the state folder of the commands about logins.
    private static func operand(
        _ words: [String], _ environment: [String: String]
    ) throws(Mistake) -> (String?, state: String) {
        var (operand, state): (String?, String?)
        var rest = words[...]
        while let word = rest.popFirst() {
            if word == "--state" {
                guard let value = rest.popFirst() else { throw Mistake(description: "--state needs a value") }
                state = value
            } else {
                guard operand == nil, !word.hasPrefix("--") else {
                    throw Mistake(description: "unknown option \(word)")
                }
                operand = word
            }
        }
        if let state { return (operand, state) }
        return (operand, try ServeOptions.stateFolder(environment))
    }
}
