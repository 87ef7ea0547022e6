import ApplianceTestSupport
import Testing

@testable import Appliance

@Suite("The text of a problem")
struct ProblemTextTests {
    @Test(
        "Characters of names that change the direction of writing, or control a terminal, are shown as such",
        arguments: [
            ("hw:\u{202E}CAD: busy", "hw:\\u202ECAD: busy"), ("a\u{2066}b", "a\\u2066b"), ("a\u{1B}[31m", "a\\x1B[31m"),
            ("a\nb", "a\\nb"), ("Küche 音楽", "Küche 音楽"),
        ])
    func visible(text: String, shown: String) {
        let problems = DaemonProblems {}
        problems.set(DaemonProblem.device, text)
        #expect(problems.all.map { $0.message.lowercased() } == [shown.lowercased()])
        problems.set(DaemonProblem.device, nil)
        #expect(problems.all.isEmpty)
    }
}
