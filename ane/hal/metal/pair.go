package metal

import (
	"github.com/anekit/anekit/ane/hal"
	"github.com/anekit/anekit/ane/hal/internal/joint"
	gpu "github.com/anekit/anekit/unimem/metal"
)

// Pair keeps a hal.Semaphore and an MTLSharedEvent at the same value. Join makes one, and its caller closes it.
type Pair struct {
	event *gpu.Event
	end   func() error
}

// Join makes an Event on d with the value of s. From then on, a value that either reaches the other reaches too. So
// work of the GPU can be submitted with waits for the Event before the host or an engine has reached them.
//
// If s fails, the Event keeps its value. Work of the GPU that waits for a higher value stays pending until a caller
// signals the Event: use Queue.Execute where a wait can fail. Errors are those of s.Value and d.NewEvent.
func Join(d *gpu.Device, s *hal.Semaphore) (*Pair, error) {
	v, err := s.Value()
	if err != nil {
		return nil, err
	}
	e, err := d.NewEvent(v)
	if err != nil {
		return nil, err
	}
	return &Pair{e, joint.Start(s, e, v, gpu.ErrBackwards)}, nil
}

// Event returns the Event of the Pair, which owns it.
func (p *Pair) Event() *gpu.Event {
	if p == nil {
		return nil
	}
	return p.event
}

// Close ends the joining and closes the Event. The error is that of the Event's Close while work of the GPU names it; a
// later Close tries again. Repeating it returns nil.
func (p *Pair) Close() error {
	if p == nil || p.end == nil {
		return nil
	}
	return p.end()
}
