/// The modules of a QR code: the fixed patterns, the codewords between them, and the best mask.
struct QRMatrix: Sendable {
    let size: Int
    private var dark: [Bool]
    /// Whether a module belongs to finder, timing, alignment or format, which codewords and mask do not change.
    private var isFunction: [Bool]

    subscript(row: Int, column: Int) -> Bool { dark[row * size + column] }

    init(size: Int, _ codewords: [UInt8]) {
        self.size = size
        dark = Array(repeating: false, count: size * size)
        isFunction = dark
        drawPatterns()
        place(codewords)
        var best = (penalty: Int.max, mask: 0)
        for mask in 0..<8 {
            apply(mask)
            drawFormat(mask)
            let penalty = penalty
            if penalty < best.penalty { best = (penalty, mask) }
            // Applying a mask twice removes it.
            apply(mask)
        }
        apply(best.mask)
        drawFormat(best.mask)
    }

    private mutating func setFunction(_ row: Int, _ column: Int, _ isDark: Bool) {
        guard (0..<size).contains(row), (0..<size).contains(column) else { return }
        dark[row * size + column] = isDark
        isFunction[row * size + column] = true
    }

    // MARK: Patterns (ISO/IEC 18004, 6.3)

    private mutating func drawPatterns() {
        for index in 0..<size {
            setFunction(6, index, index % 2 == 0)
            setFunction(index, 6, index % 2 == 0)
        }
        for (row, column) in [(3, 3), (3, size - 4), (size - 4, 3)] {
            // The squares include the light separator around them.
            drawSquares(row, column, radius: 4) { $0 != 2 && $0 != 4 }
        }
        // Versions 2 to 6 have one alignment pattern.
        if size > 21 { drawSquares(size - 7, size - 7, radius: 2) { $0 != 1 } }
        drawFormat(0)
    }

    /// Draws squares around a module; `isDark` decides by the distance from it.
    private mutating func drawSquares(_ row: Int, _ column: Int, radius: Int, _ isDark: (Int) -> Bool) {
        for down in -radius...radius {
            for right in -radius...radius {
                setFunction(row + down, column + right, isDark(max(abs(down), abs(right))))
            }
        }
    }

    /// Draws level L and the mask, twice, with check bits (ISO/IEC 18004, 7.9).
    private mutating func drawFormat(_ mask: Int) {
        let data = 0b01 << 3 | mask
        var remainder = data
        for _ in 0..<10 { remainder = remainder << 1 ^ (remainder >> 9) * 0x537 }
        let bits = (data << 10 | remainder) ^ 0x5412
        for index in 0..<15 {
            let bit = bits >> index & 1 != 0
            switch index {
            case 0...5: setFunction(index, 8, bit)
            case 6, 7: setFunction(index + 1, 8, bit)
            case 8: setFunction(8, 7, bit)
            default: setFunction(8, 14 - index, bit)
            }
            if index < 8 { setFunction(8, size - 1 - index, bit) } else { setFunction(size - 15 + index, 8, bit) }
        }
        setFunction(size - 8, 8, true)
    }

    // MARK: Codewords (ISO/IEC 18004, 7.7.3)

    /// Places the codewords in pairs of columns from the right, upwards and downwards in turn. The remaining modules
    /// stay light.
    private mutating func place(_ codewords: [UInt8]) {
        var bit = 0
        var goesUp = true
        var right = size - 1
        while right > 0 {
            // The timing pattern occupies a whole column.
            if right == 6 { right = 5 }
            for step in 0..<size {
                let row = goesUp ? size - 1 - step : step
                for column in [right, right - 1]
                where !isFunction[row * size + column] && bit < 8 * codewords.count {
                    dark[row * size + column] = codewords[bit / 8] >> UInt8(7 - bit % 8) & 1 != 0
                    bit += 1
                }
            }
            goesUp.toggle()
            right -= 2
        }
    }

    // MARK: Masks (ISO/IEC 18004, 7.8)

    private mutating func apply(_ mask: Int) {
        for row in 0..<size {
            for column in 0..<size where !isFunction[row * size + column] && Self.inverts(mask, row, column) {
                dark[row * size + column].toggle()
            }
        }
    }

    private static func inverts(_ mask: Int, _ row: Int, _ column: Int) -> Bool {
        switch mask {
        case 0: (row + column) % 2 == 0
        case 1: row % 2 == 0
        case 2: column % 3 == 0
        case 3: (row + column) % 3 == 0
        case 4: (row / 2 + column / 3) % 2 == 0
        case 5: row * column % 2 + row * column % 3 == 0
        case 6: (row * column % 2 + row * column % 3) % 2 == 0
        default: ((row + column) % 2 + row * column % 3) % 2 == 0
        }
    }

    /// How hard the code is to read: long runs, blocks, patterns like a finder, and too much of one colour.
    private var penalty: Int {
        var sum = 0
        for line in 0..<size {
            sum += penalty((0..<size).map { self[line, $0] })
            sum += penalty((0..<size).map { self[$0, line] })
        }
        for row in 0..<(size - 1) {
            for column in 0..<(size - 1) {
                let count = [self[row, column + 1], self[row + 1, column], self[row + 1, column + 1]]
                    .filter { $0 == self[row, column] }.count
                if count == 3 { sum += 3 }
            }
        }
        let share = 100 * dark.filter { $0 }.count / dark.count
        return sum + abs(share - 50) / 5 * 10
    }

    private func penalty(_ line: [Bool]) -> Int {
        var sum = 0
        var run = 0
        for index in line.indices {
            run = index > 0 && line[index] == line[index - 1] ? run + 1 : 1
            if run == 5 { sum += 3 } else if run > 5 { sum += 1 }
        }
        let light = [false, false, false, false]
        let finder = [true, false, true, true, true, false, true]
        for start in 0..<max(0, line.count - 10) {
            let part = line[start..<(start + 11)]
            if part.elementsEqual(light + finder) || part.elementsEqual(finder + light) { sum += 40 }
        }
        return sum
    }
}
