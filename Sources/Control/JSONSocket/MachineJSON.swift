import Appliance
import Platform

/// The request `machine` and its reply, as JSON. `docs/control.md` documents it.
enum MachineJSON {
    // Safe: built once, never changed, and its closures capture nothing.
    nonisolated(unsafe) static let forms = [RequestForm("machine", .system) { _ in .later(.machine) }]

    static func members(_ status: MachineStatus) -> [JSONValue.Member] {
        [
            .init("name", .string(status.name)),
            .init("addresses", .array(status.addresses.map { .string($0) })),
            .init(
                "volumes",
                .array(
                    status.volumes.map {
                        ["path": .string($0.path), "free": .integer($0.freeBytes), "size": .integer($0.allBytes)]
                    })),
            .init("report", JSONValue(status.report)),
        ]
    }
}
