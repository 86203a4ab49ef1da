//go:build !linux || macrules

package broker

import (
	"context"
	"errors"
	"time"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/host"
)

// Probe tells why there is no broker.
func Probe() error { return errors.New("needs Linux, this is " + host.System()) }

// child cannot be had: memory is passed between processes on Linux only.
type child struct{}

func (*child) stop(time.Duration) error { return nil }

func unsupported() error {
	return &ane.Error{Op: "open", Engine: Name, Err: ane.ErrUnavailable,
		Detail: "memory is passed between processes on Linux only", Hint: "use the software engine of this process"}
}

func startChild(context.Context, Options) (*child, int, error) { return nil, -1, unsupported() }

func dial(context.Context, string) (int, error) { return -1, unsupported() }

func waitReadable(int) error { return unsupported() }
