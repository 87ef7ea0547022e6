import CALSA
import CLinux

/// The states of a PCM in the kernel (`snd_pcm_state_t`).
enum PCMState: Equatable {
    case open, setup, prepared, running, underrun, draining, paused, suspended, disconnected

    init(_ state: snd_pcm_state_t) {
        // Compares numbers, because an unoptimised build allocates metadata when it first compares the enumeration.
        switch state.rawValue {
        case SND_PCM_STATE_OPEN.rawValue: self = .open
        case SND_PCM_STATE_SETUP.rawValue: self = .setup
        case SND_PCM_STATE_PREPARED.rawValue: self = .prepared
        case SND_PCM_STATE_RUNNING.rawValue: self = .running
        case SND_PCM_STATE_XRUN.rawValue: self = .underrun
        case SND_PCM_STATE_DRAINING.rawValue: self = .draining
        case SND_PCM_STATE_PAUSED.rawValue: self = .paused
        case SND_PCM_STATE_SUSPENDED.rawValue: self = .suspended
        // Newer kernels may add states, and a plug-in may return a negated errno. The device cannot be used then.
        default: self = .disconnected
        }
    }

    /// Why a device in this state cannot be written to.
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
