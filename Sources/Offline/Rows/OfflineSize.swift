/// The sizes in the rows, to which one flipped bit can give any value. Sums use only sizes that `counted` accepts.
enum OfflineSize {
    /// No product is larger than this, in bytes (1 TiB).
    static let most: Int64 = 1 << 40

    /// - Returns: `bytes`, or 0 for a size that no file can have.
    static func counted(_ bytes: Int64) -> Int64 { (0...most).contains(bytes) ? bytes : 0 }

    /// Returns the SQL expression of `counted` for a column.
    static func counted(_ column: String) -> String {
        "(CASE WHEN typeof(\(column)) = 'integer' AND \(column) BETWEEN 0 AND \(most) THEN \(column) ELSE 0 END)"
    }

    /// Returns the sum of a column in SQL. SQLite itself refuses a sum that overflows.
    static func sum(of column: String) -> String { sum(ofCounted: counted(column)) }

    static func sum(ofCounted expression: String) -> String {
        "CAST(min(total(\(expression)), 9000000000000000000.0) AS INTEGER)"
    }

    /// Returns the size to use when the row and the file differ. A short or missing file keeps the size of its row,
    /// which reserves the room for its replacement. The size of the file counts where the row cannot be right.
    /// - Parameters:
    ///   - recorded: the size by the row.
    ///   - actual: the size of the file; 0 when it is missing.
    ///   - budget: the budget of all offline copies; nil: without limit.
    static func corrected(_ recorded: Int64, actual: Int64, budget: Int64?) -> Int64 {
        let isAbsurd = counted(recorded) != recorded || recorded > budget ?? .max
        let difference = recorded ^ actual
        let isOneBit = actual > 0 && difference & (difference &- 1) == 0
        return isAbsurd || isOneBit || actual > recorded ? counted(actual) : recorded
    }
}
