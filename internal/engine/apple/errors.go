package apple

import (
	"errors"
	"slices"
	"sync"

	"github.com/anekit/anekit/objcbridge"
)

// maxErrors bounds the errors that an engine records.
const maxErrors = 64

// Met is an error that the framework returned to the engine.
type Met struct {
	Err       *objcbridge.Error
	Recovered bool // the engine retried or continued
	Count     int  // number of occurrences, if Recovered
}

// errorLog records the errors of an engine: each kind of recovered error once, and the
// first others.
type errorLog struct {
	mu   sync.Mutex
	list []Met
}

// add records an error of the framework.
func (m *errorLog) add(err error) {
	var b *objcbridge.Error
	if !errors.As(err, &b) || b.Kind == objcbridge.KindRefused {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.find(b) >= 0 {
		return
	}
	if len(m.list) == maxErrors { // recovered errors are less useful than others
		at := slices.IndexFunc(m.list, func(o Met) bool { return o.Recovered })
		if at < 0 {
			return
		}
		m.list = slices.Delete(m.list, at, at+1)
	}
	m.list = append(m.list, Met{Err: b, Count: 1})
}

// recovered records that the engine continues after err.
func (m *errorLog) recovered(err error) {
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

// find returns the index of an error, or -1.
func (m *errorLog) find(b *objcbridge.Error) int {
	return slices.IndexFunc(m.list, func(o Met) bool { return o.Err == b })
}

// alike reports whether two errors are equal in kind and message.
func alike(a, b *objcbridge.Error) bool {
	return a.Stage == b.Stage && a.Kind == b.Kind && a.Domain == b.Domain && a.Code == b.Code && a.Status == b.Status &&
		a.Message == b.Message
}

// Met returns the errors of the framework, at most 64: each kind of recovered error once,
// with its count.
func (e *Engine) Met() []Met {
	e.errors.mu.Lock()
	defer e.errors.mu.Unlock()
	return slices.Clone(e.errors.list)
}
