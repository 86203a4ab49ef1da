package interp_test

import (
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"

	"github.com/anekit/anekit/unimem"
)

// TestMain fails a run that leaves Blocks, mappings or goroutines behind.
func TestMain(m *testing.M) {
	code := m.Run()
	if s := unimem.Live(); s.Blocks != 0 || s.Mappings != 0 || s.Forgotten != 0 || s.Unbalanced != 0 {
		fmt.Fprintf(os.Stderr, "memory left behind: %+v\n", s)
		code = 1
	}
	if err := goleak.Find(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}
