import Manifests
import Media
import Network

extension TransferMachine {
    /// An event of a transfer, besides the bytes of answers.
    enum Event {
        /// The first event of every transfer.
        case started
        /// An attempt begins: after `.attempt` at once, and after one of the waits at its end.
        /// - Parameter ranks: the ranks of the addresses, as `FailedAddresses.rank`; none without alternatives.
        case attemptBegins(ranks: [Int])
        case headArrived(ResponseHead)
        /// The answer has ended; with an error when it is incomplete.
        case answerEnded(TransferError?)
        /// There is another link during `.waitForLink`.
        case linkChanged
        /// The receiver wants no more bytes.
        case cancelled
    }

    /// An action of the transfer. Several are carried out in their order.
    enum Effect {
        /// Begins the next attempt: `.attemptBegins` is the next event.
        case attempt
        /// Sends a request. Cookies are missing.
        case request(TransferRequest)
        /// The resource begins.
        /// - Parameter length: the length of the whole resource in bytes; nil when the server does not send it.
        case begin(ResponseHead, length: Int64?)
        /// Cancels the running request, if it has not ended. It ends with `.answerEnded`.
        case cancelRequest
        /// Waits for the next turn of the network's thread.
        case waitForTurn
        /// Waits so many nanoseconds for a service that has failed, and publishes this wait.
        case waitForServer(atMost: Int64)
        /// Waits so many nanoseconds for the network, or until there is another link, and publishes this wait.
        case waitForLink(atMost: Int64)
        /// An address has failed, and is the last to be requested from now on.
        /// - Parameter isOfHost: whether every other request to that host would have failed too.
        case addressFailed(Alternatives.Address, isOfHost: Bool)
        /// An address has delivered the resource.
        case addressWorks(Alternatives.Address)
        /// A line for the log.
        case log(String)
        /// The transfer has ended; nil: everything has arrived.
        case end(ResourceFailure?)
    }

    /// The decision about a piece of the body.
    enum Arrival {
        /// The bytes are passed over.
        case ignored
        /// This part of the bytes is for the receiver. `taken` follows if the receiver takes it.
        case wanted(Range<Int>)
        /// The bytes are not taken, and the effects end the answer.
        case refused([Effect])
    }

    /// The consequences of bytes that the receiver has taken.
    struct Taken {
        /// Whether an earlier wait is over.
        var endsWait = false
        /// The address of the bytes, if they show that it works.
        var workingAddress: Alternatives.Address?
        /// More effects, usually none.
        var effects: [Effect] = []
    }
}
