package surfacetest

// failure is which calls of a C function fail, counted from the first ever, and how.
type failure struct {
	from, to int // to is not among them
	code     int32
}

// general is kIOReturnError of IOReturn.h.
const general = -0x1ffffd44

// Fail makes the nth call from now of a C function fail, counted from 1.
func (f *Fake) Fail(call string, nth int) { f.FailMany(call, nth, 1) }

// FailMany makes count calls in a row fail, beginning with the nth from now.
func (f *Fake) FailMany(call string, nth, count int) { f.FailWith(call, nth, count, general) }

// FailWith is FailMany with the kern_return_t that the calls return, if they return one.
func (f *Fake) FailWith(call string, nth, count int, code int32) {
	f.mu.Lock()
	defer f.mu.Unlock()
	first := f.calls[call] + nth
	f.failing[call] = failure{first, first + count, code}
}

// Limit makes IOSurfaceCreate fail while that many surfaces are alive; 0 lifts the limit.
func (f *Fake) Limit(surfaces int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.limit = surfaces
}

// fails counts a call and tells whether it is to fail. The lock is held.
func (f *Fake) fails(call string) bool {
	f.calls[call]++
	n := f.calls[call]
	return f.failing[call].from <= n && n < f.failing[call].to
}

// code is what a call that fails returns. The lock is held.
func (f *Fake) code(call string) int32 { return f.failing[call].code }

// full tells whether the limit is reached. The lock is held.
func (f *Fake) full() bool { return f.limit > 0 && f.count().Surfaces >= f.limit }

// Counts is what is alive.
type Counts struct{ Objects, References, Surfaces, Locks int }

// Count counts what is alive.
func (f *Fake) Count() Counts {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.count()
}

func (f *Fake) count() Counts {
	var c Counts
	for _, o := range f.objects {
		c.Objects++
		c.References += o.references
		c.Locks += o.locks
		if o.mem != nil {
			c.Surfaces++
		}
	}
	return c
}
