package emulate_test

import (
	"testing"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/chip"
	"github.com/anekit/anekit/internal/effort"
	"github.com/anekit/anekit/internal/engine/emulate"
	"github.com/anekit/anekit/internal/engine/soft"
	"github.com/anekit/anekit/internal/enginetest"
	"github.com/anekit/anekit/internal/leaktest"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

// An engine that emulates a chip is an engine: it passes the suite, each of its opens in a process of its own.
func TestConformance(t *testing.T) {
	for _, c := range []chip.Chip{chip.M3, chip.M6} {
		t.Run(c.String(), func(t *testing.T) {
			options := []enginetest.Option{enginetest.Named(soft.Name)}
			if !effort.Full() {
				options = append(options, enginetest.Without("needs a second; "+effort.HowToRaise, "deadline"))
			}
			enginetest.Run(t, func() ane.Engine { return emulate.New(soft.New(), c, emulate.NewHost()) }, options...)
		})
	}
}
