package trial

import (
	"testing"

	"github.com/anekit/anekit/internal/guestbuild"
)

func TestTheGuestIsWhatItsSourceBuilds(t *testing.T) { guestbuild.Same(t, "guest/chain.c") }
