import Account
import Crypto
import Events
import Fetching
import Network
import Platform

/// The service as the receiver of events.
///
/// Thread: any; `send` blocks.
struct EventService: Sendable {
    /// The longest answer, in bytes: ten entries have about two kilobytes.
    private static let longestAnswer = 64 << 10

    let network: any LoginNetwork
    let settings: ServiceSettings
    let credentials: any CredentialsProvider
    /// Whether a link that costs money may be used: the permission of downloads.
    let permission: MeteredPermission

    /// Returns the mark of the account to which a token belongs: a part of a digest of the service and the user's id.
    /// - Parameter token: nil for the present login.
    func account(of token: String?) -> AccountMark {
        guard let user = credentials.user(of: token) else { return .none }
        let text = Array("\(settings.baseURL)\n\(user)".utf8)
        // Without memory for the digest the account is as unknown as without a login.
        guard let digest = try? SHA256.hash(text) else { return .none }
        // 0 is the mark of no account.
        return AccountMark(rawValue: digest.prefix(8).reduce(0) { $0 << 8 | Int64($1) } | 1)
    }

    /// Sends a batch. If the service refuses the token, sends it once more with another one. Events of an account are
    /// sent only with a token of the account.
    func send(_ batch: EventBatch, _ device: EventDevice, _ cancellation: Cancellation) -> BatchAnswer {
        let use = TokenUse(
            purpose: .offlining, cancellation: cancellation, mayUseMeteredLink: permission.isGiven)
        do throws(ResourceFailure) {
            let token = try credentials.token(insteadOf: nil, for: use)
            guard mayCarry(token, batch) else { return .failed(retryAfter: nil) }
            let response = try fetch(batch.request(settings, device, token: token), cancellation)
            guard response.head.status == 401, let token,
                let other = try credentials.token(insteadOf: token, for: use), mayCarry(other, batch)
            else { return batch.answer(response) }
            return batch.answer(try fetch(batch.request(settings, device, token: other), cancellation))
        } catch {
            return .failed(retryAfter: nil)
        }
    }

    /// Whether a request with this token may carry the batch: the login may have changed since the batch was read.
    private func mayCarry(_ token: String?, _ batch: EventBatch) -> Bool {
        batch.account == .none || token.map { account(of: $0) == batch.account } ?? false
    }

    private func fetch(_ request: TransferRequest, _ cancellation: Cancellation) throws(ResourceFailure) -> Response {
        var request = request
        request.mayUseMeteredLink = permission.isGiven
        do throws(TransferError) {
            return try network.fetch(request, maximumBody: Self.longestAnswer, cancellation: cancellation)
        } catch {
            throw .transfer(error)
        }
    }
}
