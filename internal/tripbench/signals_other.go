//go:build !linux

package tripbench

import (
	"context"
	"errors"
	"time"
)

func signals(context.Context, int) (time.Duration, error) {
	return 0, errors.New("tripbench: eventfds are Linux's")
}
