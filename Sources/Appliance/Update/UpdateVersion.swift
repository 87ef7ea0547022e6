/// Numbers between dots, `0.10.2`. Missing numbers at the end count as zero.
struct UpdateVersion {
    private let numbers: [Int]

    /// - Returns: nil for a text in another form.
    init?(_ text: String) {
        var numbers: [Int] = []
        for part in text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false) {
            guard let number = Int(String(Substring(part))), number >= 0 else { return nil }
            numbers.append(number)
        }
        self.numbers = numbers
    }

    func isOlder(than other: UpdateVersion) -> Bool {
        for index in 0..<max(numbers.count, other.numbers.count) {
            let (mine, theirs) = (number(at: index), other.number(at: index))
            if mine != theirs { return mine < theirs }
        }
        return false
    }

    private func number(at index: Int) -> Int { numbers.indices.contains(index) ? numbers[index] : 0 }
}
