package apple

import (
	"errors"
	"slices"
	"sync"

	"github.com/anekit/anekit/objcbridge"
)

// maxMet bounds the errors that an engine remembers.
const maxMet = 64

// Met is an error of the framework that an engine has met.
type Met struct {
	Err       *objcbridge.Error
	Recovered bool // a later try succeeded, or was made
	Count     int  // how often, where it was recovered from
}

// met are the errors of an engine: those it got over once for each kind, and the first
// others.
type met struct {
	mu   sync.Mutex
	list []Met
}

// add notes an error that the framework is to blame for.
func (m *met) add(err error) {
	var b *objcbridge.Error
	if !errors.As(err, &b) || b.Kind == objcbridge.KindRefused {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.find(b) >= 0 {
		return
	}
	if len(m.list) == maxMet { // what was got over says less than what was not
		at := slices.IndexFunc(m.list, func(o Met) bool { return o.Recovered })
		if at < 0 {
			return
		}
		m.list = slices.Delete(m.list, at, at+1)
	}
	m.list = append(m.list, Met{Err: b, Count: 1})
}

// recover notes that the engine goes on after err.
func (m *met) recover(err error) {
	m.add(err)
	var b *objcbridge.Error
	if !errors.As(err, &b) {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	at := m.find(b)
	if at < 0 {
		return
	}
	same := slices.IndexFunc(m.list, func(o Met) bool { return o.Recovered && alike(o.Err, b) })
	if same < 0 {
		m.list[at].Recovered = true
		return
	}
	m.list[same].Count++
	m.list = slices.Delete(m.list, at, at+1)
}

// find returns the place of an error, -1 for none.
func (m *met) find(b *objcbridge.Error) int {
	return slices.IndexFunc(m.list, func(o Met) bool { return o.Err == b })
}

// alike reports whether two errors say the same.
func alike(a, b *objcbridge.Error) bool {
	return a.Stage == b.Stage && a.Kind == b.Kind && a.Domain == b.Domain && a.Code == b.Code && a.Status == b.Status &&
		a.Message == b.Message
}

// recovering notes that the engine goes on after err.
func (e *Engine) recovering(err error) { e.met.recover(err) }

// Met returns the errors of the framework that the engine has met, at most 64: those that
// it got over once for each kind, with their number.
func (e *Engine) Met() []Met {
	e.met.mu.Lock()
	defer e.met.mu.Unlock()
	return slices.Clone(e.met.list)
}
