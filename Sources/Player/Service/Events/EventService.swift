import Events
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

    /// Sends a batch; once more with another token when the first one is refused.
    func send(_ batch: EventBatch, _ device: EventDevice, _ cancellation: Cancellation) -> BatchAnswer {
        let use = TokenUse(
            purpose: .offlining, cancellation: cancellation, mayUseMeteredLink: permission.isGiven)
        do throws(ResourceFailure) {
            let token = try credentials.token(insteadOf: nil, for: use)
            let response = try fetch(batch.request(settings, device, token: token), cancellation)
            guard response.head.status == 401, let token,
                let other = try credentials.token(insteadOf: token, for: use)
            else { return batch.answer(response) }
            return batch.answer(try fetch(batch.request(settings, device, token: other), cancellation))
        } catch {
            return .failed(retryAfter: nil)
        }
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
