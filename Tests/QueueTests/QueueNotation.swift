import Platform

@testable import Queue
@testable import CutProgram

/// Queues of one-letter products, so that an order can be written as a word.
extension PlayQueue {
    init(_ letters: String, current: Character? = nil) throws {
        self.init()
        try set(QueuedProduct.letters(letters), random: QueueWriter.SeededRandom(seed: 1))
        if let current { try select(id(current)) }
    }

    func id(_ letter: Character) -> EntryID {
        table.ids.first { table[$0]?.productId == String(letter) } ?? EntryID(0)
    }

    private func letters(_ ids: [EntryID]) -> String { ids.map { product($0)?.productId ?? "?" }.joined() }

    /// The order of playing.
    var word: String { letters(playOrder) }
    var originalWord: String { letters(originalOrder) }
    var currentLetter: String? { current.flatMap(product)?.productId }
    var upNextLetter: String? { upNext.flatMap(product)?.productId }
    var historyWord: String { letters(history) }

    mutating func shuffle(seed: UInt64 = 7) { setShuffled(true, random: QueueWriter.SeededRandom(seed: seed)) }
    mutating func unshuffle() { setShuffled(false, random: QueueWriter.SeededRandom(seed: 1)) }
}

extension QueuedProduct {
    static func letters(_ letters: String) -> [QueuedProduct] { letters.map { QueuedProduct(.track, String($0)) } }
    static func files(_ count: Int) -> [QueuedProduct] { (0..<count).map(QueueWriter.file) }
}
