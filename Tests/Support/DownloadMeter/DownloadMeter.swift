import CLinux
import Network
import Platform

/// For tools/bench: downloads one file with the network module that ships.
///
///     DownloadMeter file URL AUTHORITY FILE         into a file
///     DownloadMeter sealed URL AUTHORITY FOLDER     into the sealed cache
///
/// Prints the bytes, the microseconds from the request to the last byte on the medium, and those of processor time.
/// Also prints by how many bytes the resident memory has grown since the head of the answer. Exit codes: 0 downloaded,
/// 1 not.
@main
struct DownloadMeter {
    static func main() {
        guard let kind = argument(1), let url = argument(2), let authority = argument(3), let place = argument(4),
            let destination = destination(kind, place)
        else {
            print("usage: DownloadMeter file|sealed URL AUTHORITY PLACE")
            exit(1)
        }
        var settings = NetworkSettings(trustedNow: { Int64(time(nil)) })
        settings.extraCAFile = authority
        let network: Network
        do throws(NetworkSetupError) { network = try Network(settings) } catch {
            print(error.description)
            exit(1)
        }
        let clock = SystemMonotonicClock()
        let start = (time: clock.now(), processor: processorTime())
        let download = Download(into: destination)
        download.begin(TransferRequest(url: url), over: network)
        let failure = download.wait()
        let end = (time: clock.now(), processor: processorTime())
        // This also extends its life to here.
        network.stop()
        if let failure {
            print(failure)
            exit(1)
        }
        let elapsed = (end.time - start.time) / 1000
        print("\(download.count) \(elapsed) \(end.processor - start.processor) \(download.growth)")
        exit(0)
    }

    private static func argument(_ index: Int32) -> String? { tonearm_argument(index).map { String(cString: $0) } }

    private static func destination(_ kind: String, _ place: String) -> (any Destination)? {
        kind.utf8.elementsEqual("sealed".utf8) ? SealedDestination(place) : FileDestination(place)
    }

    /// The processor time of the whole process, in microseconds.
    private static func processorTime() -> Int64 {
        var usage = rusage()
        // RUSAGE_SELF, whose type differs between the two builds.
        getrusage(0, &usage)
        let seconds = Int64(usage.ru_utime.tv_sec) + Int64(usage.ru_stime.tv_sec)
        return seconds * 1_000_000 + Int64(usage.ru_utime.tv_usec) + Int64(usage.ru_stime.tv_usec)
    }
}

/// The resident memory of this process, in bytes.
enum ResidentMemory {
    static var now: Int64 { value("VmRSS:") }
    static var highest: Int64 { value("VmHWM:") }

    private static func value(_ name: String) -> Int64 {
        guard let status = try? File.contents(of: "/proc/self/status", limit: 65_536) else { return 0 }
        for line in status.split(separator: UInt8(ascii: "\n")) where line.starts(with: name.utf8) {
            let digits = line.filter { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
            return (Int64(String(decoding: digits, as: UTF8.self)) ?? 0) * 1024
        }
        return 0
    }
}
