//go:build !linux || macrules

package broker

import (
	"context"
	"errors"
	"time"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/host"
)

// process cannot be had: memory is passed between processes on Linux only.
type process struct{}

func (*process) stop(time.Duration) error { return nil }

func unsupported() error {
	return &ane.Error{Op: "open", Engine: Name, Err: ane.ErrUnavailable,
		Detail: "memory is passed between processes on Linux only", Hint: "use the software engine of this process"}
}

// Probe tells why there is no broker.
func Probe() error { return errors.New("needs Linux, this is " + host.System()) }

func startProcess(context.Context, Options) (*process, int, error) { return nil, -1, unsupported() }

func dial(context.Context, string) (int, error) { return -1, unsupported() }

func absent(error) bool { return false }

func waitReadable(int) {}

func hungUp(int) bool { return true }

func hangUp(int) {}
