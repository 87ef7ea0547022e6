import Output

extension RendererEvent {
    /// Releases the objects of an event that is not handled.
    func release() {
        switch kind {
        case .opened(_, let box): box.release()
        case .deviceLost(_, let box), .refused(_, let box): box.release()
        case .running, .starved, .reopening, .heard, .formatHeard, .ended: break
        }
    }
}
