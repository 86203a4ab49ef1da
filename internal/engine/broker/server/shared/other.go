//go:build !linux || macrules

package shared

import (
	"os"

	"github.com/anekit/anekit/internal/engine/broker/server/admission"
	"github.com/anekit/anekit/internal/engine/broker/wire"
)

// Listener is a socket that clients connect to; this system has none.
type Listener struct{}

// Listen returns an error matching ane.ErrUnavailable.
func Listen(string) (*Listener, error) { return nil, admission.Unavailable("listen") }

// Passed returns nil: no process passes a socket here.
func Passed() []*os.File { return nil }

// Inherit returns nil: no process passes a socket here.
func Inherit([]*os.File) (*Listener, error) { return nil, nil }

// Accept returns an error matching ane.ErrUnavailable.
func (l *Listener) Accept() (*wire.Conn, error) { return nil, admission.Unavailable("accept") }

// Path is empty.
func (l *Listener) Path() string { return "" }

// Close does nothing.
func (l *Listener) Close() error { return nil }
