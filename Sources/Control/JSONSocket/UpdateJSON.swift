import Appliance
import Platform

/// Requests about updates of the firmware image, and their reply, as JSON. `docs/control.md` documents them.
enum UpdateJSON {
    // Safe: built once, never changed, and its closures capture nothing.
    nonisolated(unsafe) static let forms = [
        RequestForm("update-status", .system) { _ in .later(.update(.status)) },
        RequestForm("update", .system, ["address"]) { fields throws(RequestMistake) in
            .later(.update(.install(from: try address(fields))))
        },
        RequestForm("update-cancel", .system) { _ in .later(.update(.cancel)) },
    ]

    private static func address(_ fields: RequestFields) throws(RequestMistake) -> UpdateAddress? {
        guard fields.has("address") else { return nil }
        guard let address = UpdateAddress(try fields.text("address", UpdateAddress.form)) else {
            throw .notAllowed(field: "address", allowed: UpdateAddress.form)
        }
        return address
    }

    static func members(_ status: UpdateStatus) -> [JSONValue.Member] {
        [
            .init("mode", JSONValue(status.mode?.rawValue)), .init("waiting", .boolean(status.isWaiting)),
            .init("version", JSONValue(status.running)), .init("next", JSONValue(status.next)),
            .init("done", status.progress.map { .integer($0.done) } ?? .null),
            .init("total", status.progress.map { .integer($0.total) } ?? .null),
            .init(
                "problem",
                status.problem.map { ["code": .string($0.code), "message": .string($0.text)] } ?? .null),
            .init("address", JSONValue(status.address?.text)),
        ]
    }
}
