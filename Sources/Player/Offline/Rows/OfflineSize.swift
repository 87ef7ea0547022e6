/// The sizes in the rows, which one flipped bit can make anything. Sums only use what `counted` lets through.
enum OfflineSize {
    /// No product is larger than this, in bytes (1 TiB).
    static let most: Int64 = 1 << 40

    /// - Returns: 0 for what no file can have.
    static func counted(_ bytes: Int64) -> Int64 { (0...most).contains(bytes) ? bytes : 0 }

    /// The same in SQL.
    static func counted(_ column: String) -> String {
        "(CASE WHEN typeof(\(column)) = 'integer' AND \(column) BETWEEN 0 AND \(most) THEN \(column) ELSE 0 END)"
    }

    /// The sum of a column in SQL. SQLite refuses one that does not fit.
    static func sum(of column: String) -> String { sum(ofCounted: counted(column)) }

    static func sum(ofCounted expression: String) -> String {
        "CAST(min(total(\(expression)), 9000000000000000000.0) AS INTEGER)"
    }

    /// The size to go on with where the row and the file have different ones. A file that is short or missing keeps the
    /// size of its row, as the place of its replacement. It takes the size of the file where the row cannot be right.
    /// - Parameters:
    ///   - recorded: by the row.
    ///   - actual: by the file; 0 when it is missing.
    ///   - budget: of all offline copies; nil: without limit.
    static func corrected(_ recorded: Int64, actual: Int64, budget: Int64?) -> Int64 {
        let isAbsurd = counted(recorded) != recorded || recorded > budget ?? .max
        let difference = recorded ^ actual
        let isOneBit = actual > 0 && difference & (difference &- 1) == 0
        return isAbsurd || isOneBit || actual > recorded ? counted(actual) : recorded
    }
}
