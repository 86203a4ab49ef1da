//go:build !linux || macrules

package admission

import (
	"context"
	"os"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/engine/broker/wire"
)

func unavailable(op string) error {
	return &ane.Error{Op: op, Engine: engine, Err: ane.ErrUnavailable,
		Detail: "memory is passed between processes on Linux only", Hint: "use the software engine of this process"}
}

// Listener is a socket that clients connect to; this system has none.
type Listener struct{}

// Listen returns an error matching ane.ErrUnavailable.
func Listen(string) (*Listener, error) { return nil, unavailable("listen") }

// Inherit returns nil: no process passes a socket here.
func Inherit([]*os.File) (*Listener, error) { return nil, nil }

// Accept returns an error matching ane.ErrUnavailable.
func (l *Listener) Accept() (*wire.Conn, error) { return nil, unavailable("accept") }

// Path is empty.
func (l *Listener) Path() string { return "" }

// Close does nothing.
func (l *Listener) Close() error { return nil }

// ProcessOf is no process.
func ProcessOf(*wire.Conn) Process { return Process{} }

// Executables knows no client.
type Executables struct{}

// Identify returns an error matching ane.ErrUnavailable.
func (h *Executables) Identify(context.Context, *wire.Conn) (Identity, error) {
	return Identity{}, unavailable("admit")
}
