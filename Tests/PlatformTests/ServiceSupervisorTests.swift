import TestSupport
import Testing

@testable import Platform

@Suite("The service's supervisor")
struct ServiceSupervisorTests {
    private func supervisor(_ variables: [String: String], process: Int32 = 7) -> ServiceSupervisor? {
        ServiceSupervisor(environment: { variables[$0] }, process: process)
    }

    @Test("is there only where the environment says so")
    func environment() {
        #expect(supervisor([:]) == nil)
        #expect(supervisor(["NOTIFY_SOCKET": ""]) == nil)
        #expect(supervisor(["NOTIFY_SOCKET": "/run/x"]) != nil)
    }

    @Test(
        "waits for signs of life as long as it says, if it means this process",
        arguments: [
            ([:], nil), (["WATCHDOG_USEC": "10000000"], 10_000_000_000),
            (["WATCHDOG_USEC": "3000000", "WATCHDOG_PID": "7"], 3_000_000_000),
            (["WATCHDOG_USEC": "3000000", "WATCHDOG_PID": "8"], nil), (["WATCHDOG_USEC": "soon"], nil),
            (["WATCHDOG_USEC": "0"], nil), (["WATCHDOG_USEC": "9223372036854775807"], nil),
        ] as [([String: String], Int64?)])
    func watchdog(variables: [String: String], interval: Int64?) {
        let all = variables.merging(["NOTIFY_SOCKET": "/run/x"]) { first, _ in first }
        #expect(supervisor(all)?.watchdogInterval == interval)
    }

    @Test("gets messages in its own protocol")
    func words() throws {
        let folder = try ScratchFolder()
        let socket = Datagrams(path: folder["notify"])
        let supervisor = try #require(self.supervisor(["NOTIFY_SOCKET": socket.path]))
        for message in [.ready, .reloading(at: 12_345_678), .status("playing: Träume"), .alive, .stopping]
            as [ServiceSupervisor.Message]
        {
            supervisor.notify(message)
        }
        #expect(
            socket.arrived() == [
                "READY=1", "RELOADING=1\nMONOTONIC_USEC=12345", "STATUS=playing: Träume", "WATCHDOG=1", "STOPPING=1",
            ])
    }

    @Test("takes no orders from the title of a track")
    func titleWithLines() {
        let message = ServiceSupervisor.Message.status("playing: x\nWATCHDOG=trigger\r\u{7F}y")
        #expect(message.text == "STATUS=playing: x WATCHDOG=trigger  y")
    }

    @Test("that is gone is no reason to fail")
    func gone() throws {
        let folder = try ScratchFolder()
        for path in [folder["none"], String(repeating: "x", count: 200)] {
            supervisor(["NOTIFY_SOCKET": path])?.notify(.ready)
        }
    }
}
