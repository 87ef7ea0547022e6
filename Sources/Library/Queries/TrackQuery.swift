import Database

/// A query for tracks of the index: a condition, an order and a page.
///
///     index.tracks(TrackQuery(.folder(path), order: .file, page: ListPage(limit: 100)))
///
/// This file and `TrackFilter` convert it into SQL. The text depends only on the cases, because all values are bound.
package struct TrackQuery: Sendable {
    package enum Presence: Sendable {
        /// Each track of existing files once.
        case listed
        /// Also existing files that are listed as the tracks of cue sheets.
        case withHidden
    }

    package enum Order: Sendable {
        /// The order in which SQLite finds the tracks.
        case none
        /// By number, which is the order in which the tracks were added to the index.
        case number
        case latestFirst
        /// By disc and number.
        case album
        /// By the name of the file.
        case file
    }

    package var filter: TrackFilter
    package var presence: Presence
    package var order: Order
    /// The page; nil for all tracks.
    package var page: ListPage?

    package init(
        _ filter: TrackFilter, presence: Presence = .listed, order: Order = .none, page: ListPage? = nil
    ) {
        self.filter = filter
        self.presence = presence
        self.order = order
        self.page = page
    }
}

extension TrackQuery {
    /// The clauses after `FROM track`.
    var clauses: BoundSQL {
        var sql = condition
        sql.text += Self.clause(order)
        if let page {
            sql.text += " LIMIT ? OFFSET ?"
            sql.values += [.integer(page.limit), .integer(page.offset)]
        }
        return sql
    }

    /// The query for the number of all tracks, without regard to the page.
    var count: BoundSQL {
        var sql = condition
        sql.text = "SELECT count(*) FROM track \(sql.text)"
        return sql
    }

    private var condition: BoundSQL {
        let conditions = filter.conditions
        var sql = BoundSQL((["WHERE \(isPresent)"] + conditions.map { $0.text }).joined(separator: " AND "))
        sql.values = conditions.flatMap { $0.values }
        return sql
    }

    /// `+` prevents SQLite from using the index of only this column, which contains nearly all tracks. The index of
    /// albums contains the column, so `+` is left out for it.
    private var isPresent: String {
        if case .album = filter, case .listed = presence { return "is_present = 1" }
        return switch presence {
        case .listed: "+is_present = 1"
        case .withHidden: "+is_present > 0"
        }
    }

    private static func clause(_ order: Order) -> String {
        switch order {
        case .none: ""
        case .number: " ORDER BY id"
        case .latestFirst: " ORDER BY id DESC"
        case .album: " ORDER BY coalesce(disc_number, 1), track_number, folder, file"
        case .file: " ORDER BY file, part"
        }
    }
}
