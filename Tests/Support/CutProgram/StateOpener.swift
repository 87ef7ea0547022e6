import Appliance
import Control
import FileCalls
import Library
import MPD
import Platform

/// Does one thing to files in a process that a test can cut off or watch. `CALL` is the number of the file call at
/// which the process ends, from 0:
///
///     CutProgram state open FOLDER CALL      opens the state of a daemon
///     CutProgram state playlist FOLDER CALL  changes stored playlists
///     CutProgram state replace FILE TEXT     replaces a file, and writes each file call to stderr
enum StateOpener {
    static func run(_ words: [String]) {
        switch words[0] {
        case "open":
            file_calls_cut(Int(words[2]) ?? -1)
            do throws(ApplianceState.Problem) {
                _ = try ApplianceState(words[1], servers: [MPDStickers.schema, WebServer.schema])
            } catch {
                CutProgram.fail(error.description, code: 1)
            }
        case "playlist":
            file_calls_cut(Int(words[2]) ?? -1)
            file_calls_lose_unsynced()
            let playlists = PlaylistFolder(words[1])
            do throws(PlaylistFailure) {
                playlists.removeLeftovers()
                try playlists.add(["/c"], to: "one")
                try playlists.add(["/c"], to: "latin")
                try playlists.rename("one", to: "two")
                try playlists.remove("gone")
            } catch {
                CutProgram.fail(error.description, code: 1)
            }
        default:
            file_calls_record()
            do throws(SystemError) { try FileReplacement.write(Array(words[2].utf8), to: words[1]) } catch {
                CutProgram.fail(error.description, code: 1)
            }
        }
    }
}
