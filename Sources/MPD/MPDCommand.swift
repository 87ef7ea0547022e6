import Appliance
import Platform

/// A command of the protocol: its name, its number of arguments, the level that it needs, and its action.
///
/// `all` is the only table: dispatch, `commands` and `notcommands` read it.
struct MPDCommand: Sendable {
    typealias Handler = @Sendable (MPDPlayer, inout MPDClient, [String]) throws(MPDFailure) -> MPDStep

    let name: StaticString
    let argumentCount: ClosedRange<Int>
    let permission: MPDPermission
    let kind: Kind
    let perform: Handler

    enum Kind {
        /// The command only edits the queue. The edits of a list are gathered (`QueueConductor.gather`).
        case edit
        /// The command only returns its work, which can be joined with that of other commands.
        case work
        case other
    }

    init(
        _ name: StaticString, _ argumentCount: ClosedRange<Int>, _ permission: MPDPermission, _ kind: Kind = .other,
        _ perform: @escaping Handler
    ) {
        self.name = name
        self.argumentCount = argumentCount
        self.permission = permission
        self.kind = kind
        self.perform = perform
    }

    static let all: [MPDCommand] =
        (connection + status + playback + options + queue + database + stored + stickers).sorted { one, other in
            one.name.text.utf8.lexicographicallyPrecedes(other.name.text.utf8)
        }

    static func named(_ name: String) throws(MPDFailure) -> MPDCommand {
        guard let command = all.first(where: { $0.name.isEqual(to: name) }) else {
            throw MPDFailure(.unknown, "unknown command \"\(name)\"")
        }
        return command
    }

    /// Checks the level of a client, and the number of arguments.
    func check(_ permission: MPDPermission, argumentCount count: Int) throws(MPDFailure) {
        guard self.permission <= permission else {
            throw MPDFailure(.permission, "you don't have permission for \"\(name.text)\"")
        }
        if argumentCount.contains(count) { return }
        if argumentCount.lowerBound == argumentCount.upperBound {
            throw MPDFailure(.argument, "wrong number of arguments for \"\(name.text)\"")
        }
        let few = count < argumentCount.lowerBound ? "few" : "many"
        throw MPDFailure(.argument, "too \(few) arguments for \"\(name.text)\"")
    }
}

/// The result of a command that was begun.
enum MPDStep {
    /// The answer is complete.
    case output(MPDOutput)
    /// The answer comes later, on the same thread.
    case later((@escaping (Result<MPDAnswer, MPDFailure>) -> Void) -> Void)
    /// The command is carried out by this work, which other commands of the list may join.
    case work(MPDWork)

    static var done: MPDStep { .output(MPDOutput()) }
}

/// An answer that came later.
enum MPDAnswer {
    case output(MPDOutput)
    /// An answer that is too long to be held in memory. Each call makes a piece on the thread of queries or of
    /// playlists. nil is the end.
    case pieces(MPDPieces)
}

/// Makes an answer piece by piece.
///
/// Thread: that of queries or that of playlists, one call at a time.
protocol MPDPieces: AnyObject, Sendable {
    /// Whether the pieces need the index. If not, they are made on the thread that reads playlists.
    var needIndex: Bool { get }

    /// - Parameter database: nil without a library.
    func next(_ database: MPDDatabase?) throws(MPDFailure) -> [UInt8]?
}

extension MPDPieces {
    var needIndex: Bool { true }
}
