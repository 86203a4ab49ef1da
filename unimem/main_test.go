package unimem_test

import (
	"errors"
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"

	"github.com/anekit/anekit/internal/await"
	"github.com/anekit/anekit/internal/blockoption"
	"github.com/anekit/anekit/internal/bridgetest"
	"github.com/anekit/anekit/internal/iosurface/surfacetest"
	"github.com/anekit/anekit/unimem"
)

// shareEnv names the part that a child process plays in a test of sharing.
const shareEnv = "UNIMEM_TEST_SHARE"

// A test run that leaks fails, even if its tests pass.
func TestMain(m *testing.M) {
	if part := os.Getenv(shareEnv); part != "" {
		if err := playShare(part); err != nil {
			fmt.Fprintln(os.Stderr, "unimem "+part+":", err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	if err := errors.Join(bridgetest.ForBlocks(), lowerLimits()); err != nil {
		fmt.Fprintln(os.Stderr, "unimem tests:", err)
		os.Exit(1)
	}
	code := m.Run()
	for _, leak := range leaks() {
		fmt.Fprintln(os.Stderr, "unimem tests leak:", leak)
		code = 1
	}
	os.Exit(code)
}

func leaks() []string {
	found := systemLeaks()
	if s := unimem.Live(); s.Blocks != 0 || s.Bytes != 0 || s.Mappings != 0 {
		found = append(found, fmt.Sprintf("%+v", s))
	}
	if n := unimem.Holders(); n != 0 {
		found = append(found, fmt.Sprintf("%d functions of OnExhausted", n))
	}
	var err error
	if !await.Poll(func() bool { err = goleak.Find(); return err == nil }) {
		found = append(found, err.Error())
	}
	return found
}

// memories are the kinds of memory that tests use. Each function returns an Option for one
// test.
var memories = map[string]func(*testing.T) unimem.Option{
	"system": func(*testing.T) unimem.Option { return nil },
	"heap":   func(*testing.T) unimem.Option { return unimem.OnHeap() },
	"surface": func(t *testing.T) unimem.Option {
		return blockoption.On(surfacetest.New(t).Table())
	},
}

// overMemories runs a test on each kind of memory.
func overMemories(t *testing.T, test func(*testing.T, unimem.Option)) {
	for name, option := range memories {
		t.Run(name, func(t *testing.T) { test(t, option(t)) })
	}
}
