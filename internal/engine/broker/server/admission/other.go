//go:build !linux || macrules

package admission

import (
	"context"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/engine/broker/wire"
)

// Unavailable is the error of a call that this system has nothing for.
func Unavailable(op string) error {
	return &ane.Error{Op: op, Engine: engine, Err: ane.ErrUnavailable,
		Detail: "memory is passed between processes on Linux only", Hint: "use the software engine of this process"}
}

// ProcessOf is no process.
func ProcessOf(*wire.Conn) Process { return Process{} }

// Executables knows no client.
type Executables struct{}

// Identify returns an error matching ane.ErrUnavailable.
func (h *Executables) Identify(context.Context, *wire.Conn) (Identity, error) {
	return Identity{}, Unavailable("admit")
}
