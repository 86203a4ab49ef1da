//go:build cgo && (amd64 || arm64)

package gates

import (
	"fmt"
	"os"
	"regexp"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/internal/await"
	"github.com/anekit/anekit/internal/bridgetest"
	"github.com/anekit/anekit/internal/effort"
	"github.com/anekit/anekit/internal/engine/driverabi"
	"github.com/anekit/anekit/internal/engine/standin"
	"github.com/anekit/anekit/objcbridge"
	"github.com/anekit/anekit/unimem"
)

// Environment variables of the process with the preloaded sanitizer.
const (
	childDir   = "GATES_TEST_LIBRARIES"
	childPlant = "GATES_TEST_PLANT"
)

const (
	warm   = 4  // rounds to fill the caches
	rounds = 32 // further rounds, which leave the planted leak
)

// TestGoUnderSanitizer runs package objcbridge with the sanitized libraries, in a separate process with the
// sanitizer preloaded. Two reports include memory that the Objective-C runtime never frees; the difference is
// a leak of the rounds between. The sanitizer does not search Go's memory, so handles must be released first.
func TestGoUnderSanitizer(t *testing.T) {
	if dir := os.Getenv(childDir); dir != "" {
		child(t, dir, os.Getenv(childPlant))
		return
	}
	t.Parallel()
	effort.NeedsFull(t, "processes with the sanitizer")
	dir := bridgetest.BuildSanitized(t)
	runtime, _ := bridgetest.Sanitizer()
	program := withoutRace(t)
	for planted, frame := range map[string]string{
		"nothing": "", "bytes": "strdup", "surface": "aneb_surface_wrap", "program": "aneb_program_create",
		"request": "aneb_request_create",
	} {
		t.Run(planted, func(t *testing.T) {
			t.Parallel()
			r := run(t, []string{"LD_PRELOAD=" + runtime, childDir + "=" + dir, childPlant + "=" + planted},
				program, "-test.run=^TestGoUnderSanitizer$", "-test.v")
			require.Zero(t, r.status, "%s%s", r.text, r.errors)
			require.Contains(t, r.text, "--- PASS: TestGoUnderSanitizer")
			looks := regexp.MustCompile(`(?s)look (\d)\n(.*?)looked\n`).FindAllStringSubmatch(r.errors, -1)
			require.Len(t, looks, 2, r.errors)
			first, second := leaked(t, looks[0][2]), leaked(t, looks[1][2])
			t.Logf("unreachable allocations: %d, after %d more rounds %d", first, rounds, second)
			if planted == "nothing" {
				require.LessOrEqual(t, second, first, looks[1][2])
				return
			}
			require.GreaterOrEqual(t, second, first+rounds/2)
			require.Contains(t, looks[1][2], frame)
		})
	}
}

// leaked returns the number of unreachable allocations in a report.
func leaked(t *testing.T, report string) int {
	found := regexp.MustCompile(`SUMMARY: AddressSanitizer: \d+ byte\(s\) leaked in (\d+) allocation`).FindStringSubmatch(report)
	if found == nil {
		require.NotContains(t, report, "ERROR")
		return 0
	}
	n, err := strconv.Atoi(found[1])
	require.NoError(t, err)
	return n
}

// child runs the rounds between two reports.
func child(t *testing.T, dir, planted string) {
	f, err := standin.Start(standin.Options{Dir: dir})
	require.NoError(t, err)
	c := f.Config()
	require.NoError(t, c.Open())
	for i := range warm {
		life(t, f, i, "nothing")
	}
	look(t, 1)
	for i := range rounds {
		life(t, f, warm+i, planted)
	}
	look(t, 2)
	require.NoError(t, c.Close())
}

// look reports unreachable memory between two marker lines.
func look(t *testing.T, number int) {
	fmt.Fprintln(os.Stderr, "look", number)
	require.NoError(t, reachability())
	fmt.Fprintln(os.Stderr, "looked")
}

// life runs from open to close and leaves the planted leak.
func life(t *testing.T, f *standin.Framework, number int, planted string) {
	b, err := objcbridge.Open(f.Config().Bridge)
	require.NoError(t, err)
	x, y := opened(t, f), opened(t, f)
	in, out := wrapped(t, b, x), wrapped(t, b, y)
	p := loaded(t, b, number)
	r := requested(t, p, in, out)
	require.NoError(t, r.Evaluate(p, driverabi.QoSDefault))
	require.Error(t, failing(t, b))

	switch planted {
	case "bytes":
		require.NoError(t, forget())
	case "surface":
		wrapped(t, b, x)
	case "program":
		_, err := b.NewProgram([]byte("forgotten"), nil)
		require.NoError(t, err)
	case "request":
		requested(t, p, in, out)
	}
	r.Close()
	require.NoError(t, p.Purge())
	p.Close()
	in.Close()
	out.Close()
	require.NoError(t, x.Close())
	require.NoError(t, y.Close())
	if planted == "nothing" || planted == "bytes" { // otherwise the counts detect it too
		require.NoError(t, b.Close())
		// The framework's thread releases the request shortly after its answer.
		await.Until(t, "nothing is left over", func() bool { return len(f.Leftovers()) == 0 })
	}
}

func opened(t *testing.T, f *standin.Framework) *unimem.Block {
	block, err := unimem.Open(4*64, f.Surfaces())
	require.NoError(t, err)
	return block
}

func wrapped(t *testing.T, b *objcbridge.Bridge, block *unimem.Block) *objcbridge.Surface {
	s, err := b.WrapSurface(block.Handle(), 0)
	require.NoError(t, err)
	return s
}

func requested(t *testing.T, p *objcbridge.Program, in, out *objcbridge.Surface) *objcbridge.Request {
	r, err := p.NewRequest(0, []objcbridge.Binding{{Surface: in, Bytes: 4 * 64}}, []objcbridge.Binding{{Surface: out,
		Bytes: 4 * 64}})
	require.NoError(t, err)
	return r
}

// loaded returns a program that is in no cache.
func loaded(t *testing.T, b *objcbridge.Bridge, number int) *objcbridge.Program {
	p, err := b.NewProgram(fmt.Appendf(nil, `program(1.3)
{
    func main<ios18>(tensor<fp16, [1, 4, 1, 32]> x) {
        tensor<fp16, [1, 4, 1, 32]> y = add(x = x, y = fp16(%d))[name = string("y")];
    } -> (y);
}`, number), nil)
	require.NoError(t, err)
	_, err = p.Compile(driverabi.QoSDefault)
	require.NoError(t, err)
	require.NoError(t, p.Load(driverabi.QoSDefault))
	_, err = p.Attributes()
	require.NoError(t, err)
	return p
}

// failing returns the error of a text that is not a program.
func failing(t *testing.T, b *objcbridge.Bridge) error {
	p, err := b.NewProgram([]byte("no program"), nil)
	require.NoError(t, err)
	defer p.Close()
	_, err = p.Compile(driverabi.QoSDefault)
	return err
}
