//go:build !macrules

package wire_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/internal/await"
	"github.com/anekit/anekit/internal/engine/broker/wire"
)

// A Sleeper wakes by any bell that rings or closes, and by Wake, whether it sleeps already or is about to.
func TestSleeper(t *testing.T) {
	if !wire.CanSleepAtBells() {
		t.Skip("the kernel has no futex_waitv")
	}
	var s wire.Sleeper
	var near, far []*wire.Bell
	for range wire.MaxBells {
		a, b, _ := bells(t)
		near, far = append(near, a), append(far, b)
	}
	sleep := func(end func()) {
		done := sleeper(t, func() error { s.Sleep(s.Wakes(), near); return nil })
		end()
		require.NoError(t, await.Value(t, done))
	}
	frame := wire.Frame{Kind: wire.KindEvaluate, ID: wire.BellID}
	buf := buffer()
	for _, i := range []int{0, 1, 77, wire.MaxBells - 1} {
		sleep(func() { require.NoError(t, far[i].Send(frame)) })
		s.Sleep(s.Wakes(), near) // at once: the frame is there still
		_, err := near[i].Receive(buf, 0)
		require.NoError(t, err)
	}
	sleep(s.Wake)
	before := s.Wakes()
	s.Wake()
	s.Sleep(before, near)
	sleep(func() { require.NoError(t, near[5].Close()) })
	s.Sleep(s.Wakes(), near) // closed already
}
