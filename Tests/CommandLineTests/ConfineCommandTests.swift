import CLinux
import Foundation
import Platform
import ProgramTestSupport
import Testing
@testable import tonearm

@Suite("tonearm confine")
struct ConfineCommandTests {
    private static let isRoot = ConditionTrait.enabled(if: geteuid() == 0, "needs root")

    @Test("the program has the user and its groups, no privileges, and a filter", isRoot)
    func confined() throws {
        let script = """
            grep -E '^(Uid|Gid|Cap...|NoNewPrivs|Seccomp):' /proc/self/status | tr -s '\\t' ' '
            grep -o 'Max realtime priority *[0-9]*' /proc/self/limits | tr -s ' '
            touch own && chmod 755 own && echo may change a mode
            chmod u+s own 2>&1
            unshare --user true 2>&1 || echo "and no namespaces"
            """
        let program = try Program()
        // Its own folder, which it may write.
        let folder = program.folder["own"]
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        #expect(chmod(program.folder.path, 0o755) == 0 && chmod(folder, 0o777) == 0)
        let result = try program.run(
            "confine", "nobody", "--", "/bin/sh", "-c", "cd \(folder)\n\(script)")
        #expect(result.code == 0 && result.errors == "", "\(result.errors)")
        #expect(
            result.lines == [
                "Uid: 65534 65534 65534 65534", "Gid: 65534 65534 65534 65534", "CapInh: 0000000000000000",
                "CapPrm: 0000000000000000", "CapEff: 0000000000000000", "CapBnd: 0000000000000000",
                "CapAmb: 0000000000000000", "NoNewPrivs: 1", "Seccomp: 2", "Max realtime priority 0",
                "may change a mode", "chmod: changing permissions of 'own': Operation not permitted",
                "unshare: unshare failed: Operation not permitted", "and no namespaces",
            ])
    }

    @Test("the exit code is the program's, or says why there is none")
    func codes() throws {
        let program = try Program()
        let missing = try program.run("confine", "nobody")
        #expect(missing.code == 2 && missing.errors.contains("confine needs a user and a program"))
        let unknown = try program.run("confine", "nobody-here", "--", "/bin/true")
        #expect(unknown.code == 1 && unknown.errors.contains("there is no user nobody-here"))
        guard geteuid() == 0 else { return }
        #expect(try program.run("confine", "nobody", "--", "/bin/sh", "-c", "exit 78").code == 78)
        #expect(try program.run("confine", "nobody", "--", "/nothing").code == 1)
    }

    @Test("the groups of a user are its own and those that name it")
    func account() throws {
        let users = Array("root:x:0:0:root:/:/bin/sh\ntonearm:x:101:7:engine:/data:/bin/false\n".utf8)
        let groups = Array("root:x:0:\naudio:x:29:other,tonearm\ngpio:x:102:tonearm\nnone:x:1:tonearm2\n".utf8)
        let account = try #require(SystemAccount(named: "tonearm", users: users, groups: groups))
        #expect(account.user == 101 && account.group == 7 && account.groups == [29, 102])
        #expect(SystemAccount(named: "tone", users: users, groups: groups) == nil)
        #expect(SystemAccount(named: "bad", users: Array("bad:x:-1:0:".utf8), groups: groups) == nil)
    }
}
