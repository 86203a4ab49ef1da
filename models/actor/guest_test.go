package actor

import (
	"testing"

	"github.com/anekit/anekit/internal/guestbuild"
)

func TestGuestsAreWhatTheirSourcesBuild(t *testing.T) {
	for _, source := range []string{"guest/talker.c", "testdata/bits.wat", "testdata/counter.wat", "testdata/clock.wat",
		"testdata/large.wat", "testdata/late.wat", "testdata/opener.wat"} {
		t.Run(source, func(t *testing.T) { guestbuild.Same(t, source) })
	}
}
