package device

import (
	"errors"
	"sync"

	"github.com/anekit/anekit/objcbridge"
)

// maxMet bounds the errors that an engine remembers.
const maxMet = 64

// Met is an error of the framework that an engine has met.
type Met struct {
	Err       *objcbridge.Error
	Recovered bool // a later try succeeded, or was made
}

// met are the first errors of an engine.
type met struct {
	mu   sync.Mutex
	list []Met
}

func (m *met) add(err error, recovered bool) {
	var b *objcbridge.Error
	if !errors.As(err, &b) || b.Kind == objcbridge.KindRefused {
		return // not the framework's
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for i := range m.list {
		if m.list[i].Err == b {
			m.list[i].Recovered = recovered
			return
		}
	}
	if len(m.list) < maxMet {
		m.list = append(m.list, Met{b, recovered})
	}
}

// recovering notes that the engine goes on after err.
func (e *Engine) recovering(err error) { e.met.add(err, true) }

// Met returns the first errors of the framework that the engine has met, those that it
// got over included.
func (e *Engine) Met() []Met {
	e.met.mu.Lock()
	defer e.met.mu.Unlock()
	return append([]Met(nil), e.met.list...)
}
