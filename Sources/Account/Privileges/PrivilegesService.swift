import Fetching
import Network
import Platform

/// The service as the source of streaming privileges (docs/service.md, "Streaming privileges").
///
/// Thread: any; `discover` blocks.
package struct PrivilegesService: Sendable {
    enum Answer: Equatable, Sendable {
        case address(String)
        /// There is no login, or the service refuses it.
        case notAuthorised
        /// The service has no streaming privileges.
        case unknown
        /// - Parameter retryAfter: the time that the service asks for, in seconds.
        case failed(retryAfter: Int64?)
    }

    private static let longestAnswer = 16 << 10
    private static let longestAddress = 4096

    let network: any PrivilegesNetwork
    let settings: ServiceSettings
    let credentials: any CredentialsProvider

    package init(network: any PrivilegesNetwork, settings: ServiceSettings, credentials: any CredentialsProvider) {
        self.network = network
        self.settings = settings
        self.credentials = credentials
    }

    /// Requests the address of a connection; once more with another token when the first one is refused.
    func discover(_ cancellation: Cancellation) -> Answer {
        let use = TokenUse(purpose: .command, cancellation: cancellation)
        do throws(ResourceFailure) {
            let token = try credentials.token(insteadOf: nil, for: use)
            let answer = try ask(token, cancellation)
            guard answer == .notAuthorised, let token,
                let other = try credentials.token(insteadOf: token, for: use)
            else { return answer }
            return try ask(other, cancellation)
        } catch {
            return .failed(retryAfter: nil)
        }
    }

    /// - Parameter token: nil without a login, which a service without logins does not need.
    private func ask(_ token: String?, _ cancellation: Cancellation) throws(ResourceFailure) -> Answer {
        var request = TransferRequest(
            .post(body: [], contentType: "application/json"), url: settings.baseURL + "/v1/rt/connect",
            headers: [settings.identity(token)])
        request.isRedirectAllowed = false
        do throws(TransferError) {
            return answer(try network.fetch(request, maximumBody: Self.longestAnswer, cancellation: cancellation))
        } catch {
            throw .transfer(error)
        }
    }

    private func answer(_ response: Response) -> Answer {
        switch response.head.status {
        case 200...299:
            guard let url = (try? JSONValue.parseForeign(response.body))?["url"]?.string,
                url.utf8.count <= Self.longestAddress, isAsSecure(url)
            else { return .failed(retryAfter: nil) }
            return .address(url)
        // A proxy that answers instead of the service knows nothing of its logins and addresses.
        case let status where !ServiceRefusal(status: status, body: response.body).isOfService:
            return .failed(retryAfter: response.head.retryAfter)
        case 401, 403: return .notAuthorised
        case 404, 405, 501: return .unknown
        default: return .failed(retryAfter: response.head.retryAfter)
        }
    }

    /// The address has a ticket in it, which a service over TLS never sends in the clear.
    private func isAsSecure(_ url: String) -> Bool {
        !settings.baseURL.utf8.starts(with: "https:".utf8) || url.utf8.starts(with: "wss:".utf8)
    }

    /// Connects to an address.
    func connect(_ url: String, into sink: any WebSocketSink) -> any OngoingSocket {
        network.openSocket(WebSocketRequest(url: url, mayUseMeteredLink: true), into: sink)
    }
}
