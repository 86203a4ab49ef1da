package surfacetest

// failure selects calls of a C function that fail, counted from its first call, and their code.
type failure struct {
	from, to int // the calls [from, to)
	code     int32
}

// general is kIOReturnError of IOReturn.h.
const general = -0x1ffffd44

// Fail makes the nth call from now of a C function fail, counted from 1.
func (f *Fake) Fail(call string, nth int) { f.FailMany(call, nth, 1) }

// FailMany makes count calls in a row fail, starting with the nth from now.
func (f *Fake) FailMany(call string, nth, count int) { f.FailWith(call, nth, count, general) }

// FailWith is FailMany with the kern_return_t that the calls return, if they return one.
func (f *Fake) FailWith(call string, nth, count int, code int32) {
	f.mu.Lock()
	defer f.mu.Unlock()
	first := f.calls[call] + nth
	f.failing[call] = failure{first, first + count, code}
}

// Limit makes IOSurfaceCreate fail while that many surfaces exist; 0 removes the limit.
func (f *Fake) Limit(surfaces int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.limit = surfaces
}

// fails counts a call, and reports whether it fails and with which code. The caller holds the lock.
func (f *Fake) fails(call string) (code int32, failed bool) {
	f.calls[call]++
	if n := f.calls[call]; f.failing[call].from <= n && n < f.failing[call].to {
		return f.failing[call].code, true
	}
	return 0, false
}

// Counts are numbers of live objects.
type Counts struct{ Objects, References, Surfaces, Locks int }

// Count returns the numbers of live objects.
func (f *Fake) Count() Counts {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.count()
}

func (f *Fake) count() Counts {
	var c Counts
	seen := map[*surface]bool{nil: true}
	for _, o := range f.objects {
		c.Objects++
		c.References += o.references
		if s := o.surface; !seen[s] {
			seen[s] = true
			c.Locks += s.locks
			c.Surfaces++
		}
	}
	return c
}
