package enginetest

import (
	"runtime"
	"time"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/step"
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

func states(e *env) {
	d, p := e.device(), identity(1, 2, 2, 32)
	m, src := e.compile(d, p), source(d, p)
	_, err := m.Bind(nil, nil)
	e.expect(err, "Bind before Load", ane.ErrNotLoaded)
	e.report(m.Unload(e.Ctx), "Unload before Load")
	for range 2 {
		e.report(m.Load(e.Ctx), "Load")
	}
	r := e.rig(m, p, inBlock())
	second := e.loaded(d, p)
	_, err = second.Evaluate(e.Ctx, r.request)
	e.expect(err, "Evaluate of another model's request", ane.ErrForeign)
	_, err = m.Evaluate(e.Ctx, nil)
	e.expect(err, "Evaluate of no request", ane.ErrForeign)
	e.report(m.Unload(e.Ctx), "Unload")
	e.expect(r.run(e.Ctx), "Evaluate after Unload", ane.ErrNotLoaded)
	e.report(m.Load(e.Ctx), "Load")
	e.report(r.round(e.Ctx, 1), "after loading again")
	for range 2 {
		e.report(r.request.Close(), "closing the request")
	}
	e.expect(r.run(e.Ctx), "Evaluate of a closed request", ane.ErrClosed)
	for range 2 {
		e.report(m.Close(e.Ctx), "closing the model")
	}
	e.expect(m.Load(e.Ctx), "Load of a closed model", ane.ErrClosed)
	_, err = m.Bind(named(r.in), named(r.out))
	e.expect(err, "Bind on a closed model", ane.ErrClosed)
	e.report(second.Close(e.Ctx), "closing the second model")
	for range 2 {
		e.report(d.Close(), "closing the device")
	}
	_, err = d.Compile(e.Ctx, src)
	e.expect(err, "Compile on a closed device", ane.ErrClosed)
}

// held reports Blocks and mappings that are open now and were not before.
func (e *env) held(before unimem.Stats, when string) {
	if now := unimem.Live(); now.Blocks > before.Blocks || now.Mappings > before.Mappings {
		e.errorf("%d Blocks and %d mappings are still open%s", now.Blocks-before.Blocks, now.Mappings-before.Mappings,
			when)
	}
}

func reload(e *env) {
	p := multiplication(3, 20, 7)
	m := e.compile(e.device(), p)
	before := unimem.Live()
	for range 3 {
		e.load(m)
		step.NoError(m.Unload(e.Ctx))
		e.held(before, " after Unload")
	}
	r := e.rig(e.load(m), p, inBlock())
	for n := range 3 {
		e.report(r.round(e.Ctx, n), "cycle %d", n)
		step.NoError(m.Unload(e.Ctx))
		e.expect(r.run(e.Ctx), "Evaluate after Unload", ane.ErrNotLoaded)
		e.load(m)
	}
	e.report(r.round(e.Ctx, 9), "after the last cycle")
}

func closeOrder(e *env) {
	d := e.device()
	r := e.fresh(d, addition(1, 2, 3, 5), inBlock())
	e.report(r.round(e.Ctx, 1), "run")
	e.expect(r.model.Close(e.Ctx), "Model.Close with a request open", ane.ErrInUse)
	e.expect(d.Close(), "Device.Close with a model open", ane.ErrInUse)
	tensors := append(r.in, r.out...)
	for _, t := range tensors {
		e.expect(t.Block().Close(), "Block.Close of a bound tensor", unimem.ErrInUse)
	}
	e.report(r.round(e.Ctx, 2), "after refused Close calls")
	e.report(r.request.Close(), "Request.Close")
	for _, t := range tensors {
		e.report(t.Block().Close(), "Block.Close after Request.Close, for %s", t.Layout().Name)
	}
	e.report(r.model.Close(e.Ctx), "Model.Close")
	e.report(d.Close(), "Device.Close")
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
	for _, p := range programs() {
		r := e.fresh(d, p, inCell)
		e.report(r.round(e.Ctx, 1), "run")
		e.cancelledBy(r.run(over()), "Evaluate")
		_, err := r.model.Bind(named(r.in), nil)
		e.expect(err, "Bind without outputs", ane.ErrUnbound)
	}
	_, err := d.Compile(e.Ctx, ane.Source{Text: []byte("program(1.3)\n{\n}}")})
	e.expect(err, "Compile of a broken program", ane.ErrCompile)
	e.report(e.Close(e.Ctx), "closing")

	e.held(before, "")
	for end := time.Now().Add(e.cfg.settle); runtime.NumGoroutine() > routines && time.Now().Before(end); {
		time.Sleep(time.Millisecond)
	}
	if now := runtime.NumGoroutine(); now > routines {
		e.errorf("%d goroutines are still running", now-routines)
	}
}
