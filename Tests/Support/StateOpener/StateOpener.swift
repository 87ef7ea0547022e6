import Appliance
import Control
import FileCalls
import Glibc
import Library
import MPD
import Platform

/// Does one thing to files in a process that a test can cut off or watch:
///
///     StateOpener open FOLDER CALL     opens the state of a daemon; ends at the file call with this number, from 0
///     StateOpener playlist FOLDER CALL    changes stored playlists; ends at the file call with this number, from 0
///     StateOpener replace FILE TEXT    replaces a file, and writes each file call to stderr
@main struct StateOpener {
    static func main() {
        let words = CommandLine.arguments
        switch words[1] {
        case "open":
            file_calls_cut(Int(words[3]) ?? -1)
            do throws(ApplianceState.Problem) {
                _ = try ApplianceState(words[2], servers: [MPDStickers.schema, WebServer.schema])
            } catch {
                fail(error.description)
            }
        case "playlist":
            file_calls_cut(Int(words[3]) ?? -1)
            file_calls_lose_unsynced()
            let playlists = PlaylistFolder(words[2])
            do throws(PlaylistFailure) {
                playlists.removeLeftovers()
                try playlists.add(["/c"], to: "one")
                try playlists.add(["/c"], to: "latin")
                try playlists.rename("one", to: "two")
                try playlists.remove("gone")
            } catch {
                fail(error.description)
            }
        default:
            file_calls_record()
            do throws(SystemError) { try FileReplacement.write(Array(words[3].utf8), to: words[2]) } catch {
                fail(error.description)
            }
        }
    }

    private static func fail(_ message: String) {
        let line = Array("\(message)\n".utf8)
        _ = Glibc.write(STDERR_FILENO, line, line.count)
        exit(1)
    }
}
