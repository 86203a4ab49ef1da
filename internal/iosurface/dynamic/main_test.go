package dynamic_test

import (
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"

	"github.com/anekit/anekit/internal/await"
	"github.com/anekit/anekit/internal/bridgetest"
	"github.com/anekit/anekit/unimem"
)

// A test run that leaks fails, even if its tests pass.
func TestMain(m *testing.M) {
	if err := bridgetest.ForBlocks(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	if s := unimem.Live(); s.Blocks != 0 || s.Bytes != 0 || s.Mappings != 0 {
		fmt.Fprintf(os.Stderr, "tests of surfaces leak: %+v\n", s)
		code = 1
	}
	var err error
	if !await.Poll(func() bool { err = goleak.Find(); return err == nil }) {
		fmt.Fprintln(os.Stderr, "tests of surfaces leak:", err)
		code = 1
	}
	os.Exit(code)
}
