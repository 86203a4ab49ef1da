package vulkan

import (
	"context"
	"errors"
	"sync"

	"github.com/anekit/anekit/ane/hal"
	gpu "github.com/anekit/anekit/unimem/vulkan"
)

// Pair keeps a hal.Semaphore and a timeline semaphore of Vulkan at the same value. Join makes one, and its caller
// closes it.
type Pair struct {
	semaphore *hal.Semaphore
	timeline  *gpu.Timeline
	stop      context.CancelFunc
	ended     sync.WaitGroup
}

// Join makes a Timeline on d with the value of s. From then on, a value that either reaches the other reaches too. So
// work of the GPU can be submitted with waits for the Timeline before the host or an engine has reached them.
//
// If s fails, the Timeline stays where it is, and the GPU waits for what it awaits until a caller signals the
// Timeline: use Queue.Execute where a wait can fail. If the device is lost, s fails. Errors are those of s.Value and
// d.NewTimeline.
func Join(d *gpu.Device, s *hal.Semaphore) (*Pair, error) {
	v, err := s.Value()
	if err != nil {
		return nil, err
	}
	t, err := d.NewTimeline(v)
	if err != nil {
		return nil, err
	}
	ctx, stop := context.WithCancel(context.Background())
	p := &Pair{semaphore: s, timeline: t, stop: stop}
	p.ended.Add(2)
	go func() { defer p.ended.Done(); p.toGPU(ctx, v) }()
	go func() { defer p.ended.Done(); p.toHost(ctx, v) }()
	return p, nil
}

// toGPU signals the Timeline with the values that the Semaphore reaches.
func (p *Pair) toGPU(ctx context.Context, v uint64) {
	for p.semaphore.Wait(ctx, v+1) == nil {
		v, _ = p.semaphore.Value() // a value that was reached before a failure counts
		if err := p.timeline.Signal(v); err != nil && !errors.Is(err, gpu.ErrBackwards) {
			return // toHost tells
		}
	}
}

// toHost signals the Semaphore with the values that the Timeline reaches.
func (p *Pair) toHost(ctx context.Context, v uint64) {
	for {
		next, err := p.timeline.Next(ctx, v)
		if ctx.Err() != nil {
			return
		}
		if err != nil {
			p.semaphore.Fail(err)
			return
		}
		v = next
		if err := p.semaphore.Signal(v); err != nil && !errors.Is(err, hal.ErrBackwards) {
			return // it has failed
		}
	}
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
	if p == nil || p.timeline == nil {
		return nil
	}
	p.stop()
	p.ended.Wait()
	return p.timeline.Close()
}
