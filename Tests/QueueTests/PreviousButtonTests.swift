import Testing

@testable import Queue

@Suite("The button for the previous entry")
struct PreviousButtonTests {
    @Test(
        "Previous restarts after more than 3 s",
        arguments: [
            (0, PreviousButton.goBack), (3, .goBack), (3.001, .restart), (1000, .restart), (.nan, .goBack),
        ] as [(Double, PreviousButton)])
    func previous(position: Double, meaning: PreviousButton) {
        #expect(PreviousButton.pressed(at: position) == meaning)
    }
}
