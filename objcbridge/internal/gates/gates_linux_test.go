//go:build cgo && (amd64 || arm64)

package gates

import (
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/internal/effort"
)

// The programs of this package.
const (
	walk    = "testdata/walk.m"    // every function, one thread and 64
	faults  = "testdata/faults.m"  // every fault of every method
	flat    = "testdata/flat.m"    // many rounds
	classes = "testdata/classes.m" // live objects by class
	lies    = "testdata/lies.m"    // invalid attributes and errors
)

// both are the programs that every gate runs.
var both = []string{walk, faults}

const few = "20000" // rounds enough to show a leak

func TestCounts(t *testing.T) {
	t.Parallel()
	for _, source := range both {
		run(t, nil, plain.compile(t, source)).passes(t)
	}
	for planted, found := range map[string][]string{
		"surface": {"aneb_surface: 1 alive", "_ANEIOSurfaceObject: 1 alive", "FAIL no surface is left"},
		"program": {"aneb_program: 1 alive", "_ANEInMemoryModel: 1 alive", "FAIL close"},
		"request": {"aneb_request: 1 alive", "_ANERequest: 1 alive", "aneb_surface: 2 alive"},
		"object":  {"ok the bridge holds nothing", "_ANEIOSurfaceObject: 1 alive"},
	} {
		t.Run(planted, func(t *testing.T) {
			t.Parallel()
			r := run(t, nil, plain.compile(t, walk), planted)
			require.Equal(t, 1, r.status, r.text)
			for _, words := range found {
				require.Contains(t, r.text, words)
			}
		})
	}
}

// TestLies: invalid objects of a framework are encoded or rejected.
func TestLies(t *testing.T) {
	t.Parallel()
	run(t, nil, plain.compile(t, lies)).passes(t)
	t.Run("with AddressSanitizer", func(t *testing.T) {
		run(t, []string{noLeaks}, address.compile(t, lies)).passes(t)
	})
}

func TestTemporaryFiles(t *testing.T) {
	t.Parallel()
	effort.NeedsFull(t, "four programs; TestCounts looks at the files of two")
	for _, source := range both { // passes checks the files
		run(t, nil, plain.compile(t, source)).passes(t)
		r := run(t, nil, plain.compile(t, source), "directory")
		require.Zero(t, r.status, r.text)
		require.Len(t, r.files, 1, "the planted file")
	}
}

// TestAddressSanitizer finds use after release and other misuse of memory.
func TestAddressSanitizer(t *testing.T) {
	t.Parallel()
	for _, source := range both {
		t.Run(source, func(t *testing.T) {
			program := address.compile(t, source)
			run(t, []string{noLeaks}, program).passes(t)
			r := run(t, []string{noLeaks}, program, "stale")
			require.NotZero(t, r.status)
			require.Contains(t, r.errors, "heap-use-after-free")
			require.Contains(t, r.errors, "aneb_surface_release")
		})
	}
}

func TestAllocatedClasses(t *testing.T) {
	t.Parallel()
	program := plain.compile(t, classes)
	run(t, nil, program).passes(t)
	for planted, class := range map[string]string{
		"data": "NSDataMalloc: 50 more", "object": "_ANEIOSurfaceObject: 50 more", "program": "_ANEInMemoryModel: 50 " +
			"more",
	} {
		t.Run(planted, func(t *testing.T) {
			t.Parallel()
			r := run(t, nil, program, planted)
			require.Equal(t, 1, r.status, r.text)
			require.Contains(t, r.text, class)
		})
	}
}

func TestFlatMemory(t *testing.T) {
	t.Parallel()
	program := plain.compile(t, flat)
	t.Run("100,000 evaluations and exceptions", func(t *testing.T) {
		t.Parallel()
		run(t, []string{exact}, program).passes(t)
	})
	for _, planted := range []string{"bytes", "data", "object"} {
		t.Run(planted, func(t *testing.T) {
			t.Parallel()
			r := run(t, []string{exact}, program, planted, few)
			require.Equal(t, 1, r.status, r.text)
			for _, kind := range []string{"evaluations", "exceptions", "program lives"} {
				require.Contains(t, r.text, "FAIL "+kind+" are flat")
			}
		})
	}
}

// leaksStatus is valgrind's exit status for a leak.
const leaksStatus = 9

func TestValgrind(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("valgrind"); err != nil {
		t.Skip("no valgrind; on Debian: apt-get install --no-install-recommends valgrind")
	}
	check := func(t *testing.T, source string, planted ...string) result {
		args := append([]string{"-q", "--suppressions=" + drivers + "/valgrind.supp", "--leak-check=full",
			"--show-leak-kinds=definite",
			"--errors-for-leak-kinds=definite", "--error-exitcode=9", plain.compile(t, source)}, planted...)
		return run(t, nil, "valgrind", args...)
	}
	for _, source := range both {
		t.Run(source, func(t *testing.T) {
			t.Parallel()
			r := check(t, source)
			r.passes(t)
			require.Empty(t, r.errors)
		})
	}
	for planted, found := range map[string]string{"bytes": "64 bytes in 1 blocks are definitely lost",
		"data": "NSAllocateObject"} {
		t.Run(planted, func(t *testing.T) {
			t.Parallel()
			run(t, nil, plain.compile(t, walk), planted).passes(t) // no count detects the leak
			r := check(t, walk, planted)
			require.Equal(t, leaksStatus, r.status, r.errors)
			require.Contains(t, r.errors, found)
			require.Contains(t, r.errors, "plant (gate.h")
		})
	}
}
