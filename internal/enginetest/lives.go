package enginetest

import (
	"context"
	"errors"
	"runtime"
	"time"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/unimem"
)

// lives check states and leaks.
func lives() []check {
	return []check{
		{"states", "calls in a wrong state are refused with the error of that state", states},
		{"reload", "Unload frees what Load allocated; bound requests work again after the next Load", reload},
		{"close-order", "an object cannot be closed while another depends on it, and can be closed after that",
			closeOrder},
		{"leaks", "after the last Close no memory is open and no goroutine is running", leaks},
	}
}

// want reports an error that does not match.
func (e *env) want(err, match error, what string) {
	if !errors.Is(err, match) {
		e.errorf("%s returns %v, want %v", what, err, match)
	}
}

func states(e *env) {
	d := e.device()
	p := identity(1, 2, 2, 32)
	m := e.compile(d, p)
	_, err := m.Bind(nil, nil)
	e.want(err, ane.ErrNotLoaded, "Bind before Load")
	e.must(m.Unload(e.ctx), "Unload before Load")
	for range 2 {
		e.must(m.Load(e.ctx), "Load")
	}
	r := e.rig(m, p, inBlock())
	second := e.loaded(d, p)
	_, err = second.Evaluate(e.ctx, r.request)
	e.want(err, ane.ErrForeign, "Evaluate of another model's request")
	_, err = m.Evaluate(e.ctx, nil)
	e.want(err, ane.ErrForeign, "Evaluate of no request")
	e.must(m.Unload(e.ctx), "Unload")
	_, err = m.Evaluate(e.ctx, r.request)
	e.want(err, ane.ErrNotLoaded, "Evaluate after Unload")
	e.must(m.Load(e.ctx), "Load")
	e.must(r.round(e.ctx, 1), "after loading again")
	for range 2 {
		e.must(r.request.Close(), "closing the request")
	}
	_, err = m.Evaluate(e.ctx, r.request)
	e.want(err, ane.ErrClosed, "Evaluate of a closed request")
	for range 2 {
		e.must(m.Close(e.ctx), "closing the model")
	}
	e.want(m.Load(e.ctx), ane.ErrClosed, "Load of a closed model")
	_, err = m.Bind(named(r.in), named(r.out))
	e.want(err, ane.ErrClosed, "Bind on a closed model")
	e.must(second.Close(e.ctx), "closing the second model")
	for range 2 {
		e.must(d.Close(), "closing the device")
	}
	_, err = d.Compile(e.ctx, p.source())
	e.want(err, ane.ErrClosed, "Compile on a closed device")
}

func reload(e *env) {
	p := multiplication(3, 20, 7)
	m := e.compile(e.device(), p)
	before := unimem.Live()
	for range 3 {
		e.need(m.Load(e.ctx), "load")
		e.need(m.Unload(e.ctx), "unload")
		if now := unimem.Live(); now.Blocks > before.Blocks || now.Mappings > before.Mappings {
			e.errorf("after Unload %d Blocks and %d mappings are open, before Load %d and %d", now.Blocks,
				now.Mappings, before.Blocks, before.Mappings)
		}
	}
	e.need(m.Load(e.ctx), "load")
	r := e.rig(m, p, inBlock())
	for n := range 3 {
		e.must(r.round(e.ctx, n), "cycle %d", n)
		e.need(m.Unload(e.ctx), "unload")
		_, err := m.Evaluate(e.ctx, r.request)
		e.want(err, ane.ErrNotLoaded, "Evaluate after Unload")
		e.need(m.Load(e.ctx), "load")
	}
	e.must(r.round(e.ctx, 9), "after the last cycle")
}

func closeOrder(e *env) {
	d := e.device()
	p := addition(1, 2, 3, 5)
	m := e.loaded(d, p)
	r := e.rig(m, p, inBlock())
	e.must(r.round(e.ctx, 1), "run")
	e.want(m.Close(e.ctx), ane.ErrInUse, "Model.Close with a request open")
	e.want(d.Close(), ane.ErrInUse, "Device.Close with a model open")
	for _, t := range append(r.in, r.out...) {
		e.want(t.Block().Close(), unimem.ErrInUse, "Block.Close of a bound tensor")
	}
	e.must(r.round(e.ctx, 2), "after refused Close calls")
	e.must(r.request.Close(), "Request.Close")
	for _, t := range append(r.in, r.out...) {
		e.must(t.Block().Close(), "Block.Close after Request.Close, for %s", t.Layout().Name)
	}
	e.must(m.Close(e.ctx), "Model.Close")
	e.must(d.Close(), "Device.Close")
}

// steady counts the goroutines after those that are ending have ended: the count has to be the
// same 20 times, or limit passes.
func steady(limit time.Duration) int {
	n := runtime.NumGoroutine()
	for same, end := 0, time.Now().Add(limit); same < 20 && time.Now().Before(end); same++ {
		time.Sleep(time.Millisecond)
		if now := runtime.NumGoroutine(); now != n {
			n, same = now, 0
		}
	}
	return n
}

func leaks(e *env) {
	before, routines := unimem.Live(), steady(e.cfg.settle)
	d := e.device()
	over, cancel := context.WithCancel(context.Background())
	cancel()
	for _, p := range e.programs() {
		r := e.rig(e.loaded(d, p), p, inCell)
		e.must(r.round(e.ctx, 1), "run")
		_, err := r.model.Evaluate(over, r.request)
		e.must(ended(err, context.Canceled), "Evaluate")
		_, err = r.model.Bind(named(r.in), nil)
		e.want(err, ane.ErrUnbound, "Bind without outputs")
	}
	broken := identity(1, 2, 2, 32)
	broken.body = "y"
	_, err := d.Compile(e.ctx, broken.source())
	e.want(err, ane.ErrCompile, "Compile of a broken program")
	e.clean()

	if now := unimem.Live(); now.Blocks > before.Blocks || now.Mappings > before.Mappings {
		e.errorf("%d Blocks and %d mappings are still open", now.Blocks-before.Blocks, now.Mappings-before.Mappings)
	}
	for end := time.Now().Add(e.cfg.settle); runtime.NumGoroutine() > routines && time.Now().Before(end); {
		time.Sleep(time.Millisecond)
	}
	if now := runtime.NumGoroutine(); now > routines {
		e.errorf("%d goroutines are still running", now-routines)
	}
}
