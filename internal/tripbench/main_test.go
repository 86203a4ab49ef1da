package tripbench

import (
	"os"
	"testing"
)

func TestMain(m *testing.M) {
	ServeSignals()
	os.Exit(m.Run())
}
