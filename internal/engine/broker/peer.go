package broker

import "github.com/anekit/anekit/internal/procmem"

// Peer implements ane.Peer with what the system shows of the broker's mappings. An address is 0 where the broker has
// not mapped the tensor's memory. The answer is empty while the request runs, when its broker has gone, and where the
// system shows nothing of other processes.
func (v *invocation) Peer() (pid int, inputs, outputs []uintptr) {
	select {
	case v.busy <- struct{}{}:
		defer func() { <-v.busy }()
	default:
		return 0, nil, nil
	}
	if v.closed.Load() || v.at == nil || v.at.over.Load() {
		return 0, nil, nil
	}
	pid = int(v.at.hello.PID)
	all := make([]uintptr, len(v.tensors))
	for i, t := range v.tensors {
		address, err := procmem.Elsewhere(pid, uint64(t.Block().Address()))
		if err != nil {
			return 0, nil, nil
		}
		all[i] = uintptr(address)
	}
	return pid, all[:v.inputs], all[v.inputs:]
}
