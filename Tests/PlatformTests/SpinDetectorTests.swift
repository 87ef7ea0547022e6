import Testing

@testable import Platform

@Suite("A timer that schedules itself without a delay")
struct SpinDetectorTests {
    @Test("is found in the thousandth turn in a row")
    func spins() {
        var detector = SpinDetector()
        let answers = (0..<1001).map { _ in
            detector.scheduledWithoutDelay()
            return detector.endTurn()
        }
        #expect(answers == Array(repeating: false, count: 999) + [true, true])
    }

    @Test("is none with other work in between, or after a turn without it", arguments: [true, false])
    func works(hasOtherWork: Bool) {
        var detector = SpinDetector()
        for turn in 1...5000 {
            let isPause = turn % 999 == 0
            if !isPause || hasOtherWork { detector.scheduledWithoutDelay() }
            if isPause && hasOtherWork { detector.hadOtherWork() }
            let isSpinning = detector.endTurn()
            #expect(!isSpinning)
        }
    }

    @Test("is told by the event loop")
    func loop() throws {
        let loop = try EventLoop()
        var count = 0
        func again() {
            count += 1
            loop.schedule(after: 0) { again() }
        }
        loop.hasSpun = { loop.stop() }
        again()
        loop.run()
        #expect(count >= SpinDetector.limit && count < SpinDetector.limit + 10)
    }
}
