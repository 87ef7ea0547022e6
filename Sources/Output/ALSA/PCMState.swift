import CALSA
import CLinux

/// The states of a PCM in the kernel (`snd_pcm_state_t`).
enum PCMState: Equatable {
    case open, setup, prepared, running, underrun, draining, paused, suspended, disconnected

    init(_ raw: snd_pcm_state_t) {
        switch raw {
        case SND_PCM_STATE_OPEN: self = .open
        case SND_PCM_STATE_SETUP: self = .setup
        case SND_PCM_STATE_PREPARED: self = .prepared
        case SND_PCM_STATE_RUNNING: self = .running
        case SND_PCM_STATE_XRUN: self = .underrun
        case SND_PCM_STATE_DRAINING: self = .draining
        case SND_PCM_STATE_PAUSED: self = .paused
        case SND_PCM_STATE_SUSPENDED: self = .suspended
        // Newer kernels may add states, and a plug-in may answer with a negated errno: nothing to go on with.
        default: self = .disconnected
        }
    }

    /// What keeps a device in this state from being written to.
    var fault: DeviceFault? {
        switch self {
        case .prepared, .running, .draining, .paused: nil
        case .underrun: .underrun
        case .suspended: .suspended
        case .disconnected: .vanished
        case .open, .setup: .failed(code: -EBADFD)
        }
    }
}

extension DeviceFault {
    /// - Parameter code: a negated errno, as a call on a device in `state` returned it.
    init(code: Int32, state: PCMState) {
        switch -code {
        case EPIPE: self = .underrun
        case ESTRPIPE: self = .suspended
        case ENODEV, ENXIO, ENOTTY: self = .vanished
        case EBADFD where state == .disconnected: self = .vanished
        default: self = .failed(code: code)
        }
    }
}
