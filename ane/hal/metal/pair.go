package metal

import (
	"context"
	"errors"
	"sync"

	"github.com/anekit/anekit/ane/hal"
	gpu "github.com/anekit/anekit/unimem/metal"
)

// Pair keeps a hal.Semaphore and an MTLSharedEvent at the same value. Join makes one, and its caller closes it.
type Pair struct {
	semaphore *hal.Semaphore
	event     *gpu.Event
	value     event
	stop      context.CancelFunc
	ended     sync.WaitGroup
}

// event is a *gpu.Event.
type event interface {
	Signal(v uint64) error
	Next(ctx context.Context, v uint64) (uint64, error)
	Close() error
}

// Join makes an Event on d with the value of s. From then on, a value that either reaches the other reaches too. So
// work of the GPU can be submitted with waits for the Event before the host or an engine has reached them.
//
// If s fails, the Event stays where it is, and the GPU waits for what it awaits until a caller signals the Event: use
// Queue.Execute where a wait can fail. Errors are those of s.Value and d.NewEvent.
func Join(d *gpu.Device, s *hal.Semaphore) (*Pair, error) {
	v, err := s.Value()
	if err != nil {
		return nil, err
	}
	e, err := d.NewEvent(v)
	if err != nil {
		return nil, err
	}
	p := join(s, e, v)
	p.event = e
	return p, nil
}

func join(s *hal.Semaphore, e event, v uint64) *Pair {
	ctx, stop := context.WithCancel(context.Background())
	p := &Pair{semaphore: s, value: e, stop: stop}
	p.ended.Go(func() { p.toGPU(ctx, v) })
	p.ended.Go(func() { p.toHost(ctx, v) })
	return p
}

// toGPU signals the Event with the values that the Semaphore reaches.
func (p *Pair) toGPU(ctx context.Context, v uint64) {
	for p.semaphore.Wait(ctx, v+1) == nil {
		v, _ = p.semaphore.Value() // a value that was reached before a failure counts
		if err := p.value.Signal(v); err != nil && !errors.Is(err, gpu.ErrBackwards) {
			return // toHost tells
		}
	}
}

// toHost signals the Semaphore with the values that the Event reaches.
func (p *Pair) toHost(ctx context.Context, v uint64) {
	for {
		next, err := p.value.Next(ctx, v)
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
	if p == nil || p.value == nil {
		return nil
	}
	p.stop()
	p.ended.Wait()
	return p.value.Close()
}
