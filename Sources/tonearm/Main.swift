import Player
import Output
import Platform
import CLinux
@main struct Tonearm {
    static func main() {
        Log.minimumLevel = .debug
        let args = CommandLine.arguments
        var out = RendererSettings(device: args[1])
        out.sampleFormat = .s16
        do throws(PlayerError) {
            let player = try Player(settings: PlayerSettings(output: out), source: LocalFiles())
            player.playbackEngineConfig.loudnessNormalizationMode = .off
            let done = Condition()
            final class Box: @unchecked Sendable { var v = false; var i = 2 }
            let box = Box()
            let engine = player.playbackEngine
            @Sendable func product(_ i: Int) -> MediaProduct? { i < args.count ? MediaProduct(productType: .track, productId: args[i], referenceId: "\(i)") : nil }
            engine.bus.subscribe { m in
                switch m {
                case .mediaProductTransition(let t):
                    print("transition \(t.active?.productId ?? "nil") ")
                    if t.active != nil { box.i += 1; engine.setNext(product(box.i)) }
                case .playbackStateChanged(let s): print("state"); if s == .idle { done.update { box.v = true } } 
                    if s == .playing { print("playing") }; if s == .stalled { print("stalled") }
                case .error(let e): print(e.message)
                default: break
                }
            }
            engine.load(product(2)!)
            engine.play()
            done.wait { box.v }
            player.shutDown()
        } catch { print(error.message) }
    }
}
