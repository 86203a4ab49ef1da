package vulkan

import (
	"github.com/anekit/anekit/ane/hal"
	"github.com/anekit/anekit/ane/hal/internal/joint"
	gpu "github.com/anekit/anekit/unimem/vulkan"
)

// Pair keeps a hal.Semaphore and a timeline semaphore of Vulkan at the same value. Join makes one, and its caller
// closes it.
type Pair struct {
	timeline *gpu.Timeline
	end      func() error
}

// Join makes a Timeline on d with the value of s. From then on, a value that either reaches the other reaches too. So
// work of the GPU can be submitted with waits for the Timeline before the host or an engine has reached them.
//
// If s fails, the Timeline keeps its value. Work of the GPU that waits for a higher value stays pending until a caller
// signals the Timeline: use Queue.Execute where a wait can fail. If the device is lost, s fails. Errors are those of
// s.Value and d.NewTimeline.
func Join(d *gpu.Device, s *hal.Semaphore) (*Pair, error) {
	v, err := s.Value()
	if err != nil {
		return nil, err
	}
	t, err := d.NewTimeline(v)
	if err != nil {
		return nil, err
	}
	return &Pair{t, joint.Start(s, t, v, gpu.ErrBackwards)}, nil
}

// Timeline returns the timeline semaphore of the Pair, which owns it.
func (p *Pair) Timeline() *gpu.Timeline {
	if p == nil {
		return nil
	}
	return p.timeline
}

// Close ends the joining and closes the Timeline. The error is that of the Timeline's Close while work of the GPU names
// it. Repeating it returns nil.
func (p *Pair) Close() error {
	if p == nil || p.end == nil {
		return nil
	}
	return p.end()
}
