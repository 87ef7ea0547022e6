import Platform

@testable import HTTPServer
@testable import Library
@testable import OriginService

private let signer = URLSigner(key: [UInt8](repeating: 7, count: 32))

/// Requests from clients to the self-hosted content service, and its file of faults.
let originTargets = [
    FuzzTarget("faults-plan") { bytes in
        // The file, and the path of a request, with a 0 byte between them.
        let parts = bytes.split(separator: 0, maxSplits: 1, omittingEmptySubsequences: false).map { Array($0) }
        let path = String(decoding: parts.count > 1 ? parts[1].prefix(256) : [], as: UTF8.self)
        do throws(FaultPlan.Mistakes) {
            for rule in try FaultPlan(parsing: parts[0]).rules {
                _ = rule.matches(path)
                if rule.path.utf8.count <= 256 {
                    require(rule.matches(rule.path), "a path that does not match itself: \(rule.path)")
                }
                require(rule.status.map { (400...599).contains($0) } ?? true, "status \(rule.status ?? 0)")
                _ = HTTPDate.text(1_800_000_000 + Int64(rule.clockOffset))
            }
        } catch {
            require(!error.problems.isEmpty, "a mistake without a reason")
        }
    },
    FuzzTarget("origin-request") { bytes in
        // The values of these headers, then other texts of a request, with a 0 byte between them.
        let names = ["range", "if-range", "if-none-match", "if-modified-since", "host"]
        let values = Array(pieces(of: bytes).prefix(16))
        var request = HTTPRequest(path: "/")
        request.headers = Dictionary(uniqueKeysWithValues: zip(names, values))
        request.headers["content-type"] = "application/x-www-form-urlencoded"
        request.body = bytes
        _ = request.form
        if let origin = request.origin {
            require(origin.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }, "not an address: \(origin)")
        }
        for size in [0, 1, 1000] {
            let answer = ServedResource(
                body: ContentBody([UInt8](repeating: 1, count: size)), contentType: "audio/mp4", entityTag: "\"a\"",
                lastModified: 784_111_777, cacheControl: "private"
            ).answer(to: request)
            require([200, 206, 304, 416].contains(answer.status), "status \(answer.status)")
            require(answer.body.count <= Int64(size), "\(answer.body.count) bytes of \(size)")
            require(answer.status != 206 || answer.body.count > 0, "a part of nothing")
        }
        for text in values {
            if let page = try? ListPage(["limit": text, "offset": text]) {
                require((1...ListPage.mostEntries).contains(page.limit), "\(page.limit) entries")
            }
            _ = SearchWords(text)
            if let code = UserCode.read(text) {
                require(UserCode.read(UserCode.shown(code)) == code, "a code that is shown wrongly: \(code)")
            }
            require(!signer.isValid(text, of: "/v1/content/1/2/", at: 0), "a signature that nobody has made: \(text)")
        }
    },
    FuzzTarget("privilege-message") { bytes in
        let now: Int64 = 1_800_000_000_000
        guard let action = PrivilegeMessage.action(String(decoding: bytes, as: UTF8.self), now: now) else { return }
        require(action.age >= 0, "a press of the future")
    },
]
