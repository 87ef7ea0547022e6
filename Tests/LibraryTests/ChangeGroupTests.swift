import Testing

@testable import Library

@Suite("How long a wait for changes lasts")
struct ChangeGroupTests {
    private static let (millisecond, second): (Int64, Int64) = (1_000_000, 1_000_000_000)

    @Test("The wait for the first change lasts as many milliseconds as were asked for, whatever other events come")
    func patience() {
        var group = ChangeGroup(milliseconds: 250, at: 7)
        let end = 250 * Self.millisecond + 7
        #expect(group.end(at: 7) == end)
        #expect(group.isOver(hasChanges: false, at: end - 1) == false)
        #expect(group.end(at: end - 1) == end)
        #expect(group.isOver(hasChanges: false, at: end) == true)
        #expect(ChangeGroup.end(of: 250, from: 7) == end, "a pause has the same unit")
    }

    @Test("Without a limit it waits for ever")
    func endless() {
        var group = ChangeGroup(milliseconds: -1, at: 7)
        #expect(group.end(at: 7) == nil)
        #expect(group.isOver(hasChanges: false, at: .max) == false)
    }

    @Test("A group ends half a second after its last change, and 10 s after its first one")
    func group() {
        var group = ChangeGroup(milliseconds: 0, at: 0)
        #expect(group.isOver(hasChanges: true, at: 5) == false)
        #expect(group.end(at: 6) == 500 * Self.millisecond + 6)
        #expect(group.isOver(hasChanges: true, at: 10 * Self.second + 4) == false)
        #expect(group.isOver(hasChanges: true, at: 10 * Self.second + 5) == true)
    }
}
