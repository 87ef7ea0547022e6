import Dispatch
import Output
import Player

/// Plays files on an ALSA device, without a gap between them: `example DEVICE FILE…`.
@main
enum Example {
    static func main() throws {
        let arguments = CommandLine.arguments.dropFirst()
        guard let device = arguments.first, arguments.count > 1 else { fatalError("usage: example DEVICE FILE…") }
        let products = arguments.dropFirst().enumerated().map { number, file in
            MediaProduct(productType: .track, productId: file, referenceId: "\(number)")
        }
        var settings = PlayerSettings(output: RendererSettings(device: device))
        settings.firstVolume = .full  // the first volume is low otherwise
        settings.realtimePriority = nil  // without rights to a real-time thread
        let player = try Player(settings: settings, source: LocalFiles())
        player.playbackEngineConfig.loudnessNormalizationMode = .off  // every sample as it is in the file
        let engine = player.playbackEngine

        let ended = DispatchSemaphore(value: 0)
        engine.bus.subscribe { message in
            switch message {
            case .mediaProductTransition(let transition):
                guard let active = transition.active else {
                    ended.signal()
                    return
                }
                print("playing \(active.productId)")
                // The successor of the product that is heard now.
                let next = products.firstIndex { $0.referenceId == active.referenceId }.map { $0 + 1 }
                engine.setNext(next.flatMap { products.indices.contains($0) ? products[$0] : nil })
            case .error(let error):
                print("error: \(error)")
                ended.signal()
            case .playbackStateChanged, .playbackQualityChanged, .streamingPrivilegesRevoked:
                break
            }
        }
        engine.load(products[0])
        engine.play()
        ended.wait()
        player.shutDown()
    }
}
