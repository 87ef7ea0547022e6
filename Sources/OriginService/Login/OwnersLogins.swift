import Database
import Glibc

// Actions of the owner at the origin's own machine. A user who may write its state folder needs no password.
extension DeviceLogins {
    /// A player that is logged in.
    public struct Login: Equatable, Sendable {
        public var id: Int64
        /// The name that the player gave itself.
        public var client: String
        /// The time of the login, in seconds since 1970.
        public var created: Int64
    }

    /// Allows or refuses a player.
    /// - Parameter code: the code in the form that the player shows.
    /// - Returns: the player's name.
    public func decide(code: String, isAllowed: Bool) throws(ContentOrigin.Failure) -> String {
        guard let userCode = UserCode.read(code) else { throw Self.unknown(code: code) }
        let client: String?
        do throws(DatabaseError) {
            client = try decide(userCode, isAllowed: isAllowed, at: Int64(time(nil)))
        } catch {
            throw ContentOrigin.Failure(description: error.description)
        }
        guard let client else { throw Self.unknown(code: code) }
        return client
    }

    /// Returns the players that are logged in, in the order of their logins.
    public func logins() throws(ContentOrigin.Failure) -> [Login] {
        do throws(DatabaseError) {
            return try store.read { (database) throws(DatabaseError) in
                var row = try database.prepare("SELECT id, client, created FROM login ORDER BY id")
                var logins: [Login] = []
                while try row.step() {
                    guard let id = row.integer(0), let client = row.text(1), let created = row.integer(2) else {
                        continue
                    }
                    logins.append(Login(id: id, client: client, created: created))
                }
                return logins
            }
        } catch {
            throw ContentOrigin.Failure(description: error.description)
        }
    }

    /// Ends a login: its tokens are refused from now on.
    public func end(_ id: Int64) throws(ContentOrigin.Failure) {
        let isKnown: Bool
        do throws(DatabaseError) {
            isKnown = try store.transaction { (database) throws(DatabaseError) in
                try database.execute("DELETE FROM login WHERE id = ?", .integer(id))
                return database.changedRowCount > 0
            }
        } catch {
            throw ContentOrigin.Failure(description: error.description)
        }
        guard isKnown else { throw Self.unknown(login: id) }
    }

    public static func unknown(code: String) -> ContentOrigin.Failure {
        ContentOrigin.Failure(
            description: "\(code): no player waits with this code. Codes are good for 10 minutes.")
    }

    public static func unknown(login id: Int64) -> ContentOrigin.Failure {
        ContentOrigin.Failure(
            description: "\(id): there is no login of this number. `tonearm-origin logins` lists them.")
    }
}
