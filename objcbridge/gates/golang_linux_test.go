//go:build cgo && (amd64 || arm64)

package gates

import (
	"fmt"
	"os"
	"regexp"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane/driverabi"
	"github.com/anekit/anekit/internal/engine/standin"
	"github.com/anekit/anekit/objcbridge"
	"github.com/anekit/anekit/objcbridge/bridgetest"
	"github.com/anekit/anekit/unimem"
)

// What the process that has the sanitizer preloaded is told.
const (
	childDir   = "GATES_TEST_LIBRARIES"
	childPlant = "GATES_TEST_PLANT"
)

const (
	warm   = 4  // rounds until caches are filled
	rounds = 32 // and further ones, which leave what is planted
)

// Package objcbridge over the sanitized libraries, in a process of its own with the sanitizer preloaded. What
// the Objective-C runtime never frees is reported by each of two looks; what the second reports more is a leak
// of the rounds between. The sanitizer looks through no memory of Go's, so handles must be released first.
func TestGoUnderSanitizer(t *testing.T) {
	if dir := os.Getenv(childDir); dir != "" {
		child(t, dir, os.Getenv(childPlant))
		return
	}
	t.Parallel()
	dir := bridgetest.BuildSanitized(t)
	runtime, _ := bridgetest.Sanitizer()
	program := withoutRace(t)
	for planted, frame := range map[string]string{
		"nothing": "", "bytes": "strdup", "surface": "aneb_surface_wrap", "program": "aneb_program_create", "request": "aneb_request_create",
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

// leaked is how many allocations a report says are unreachable.
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

// child runs the rounds between two looks.
func child(t *testing.T, dir, planted string) {
	f, err := standin.Start(standin.Options{Dir: dir, CompileBudget: 1000})
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

// look reports what is unreachable, between two lines of its own.
func look(t *testing.T, number int) {
	fmt.Fprintln(os.Stderr, "look", number)
	require.NoError(t, reachability())
	fmt.Fprintln(os.Stderr, "looked")
}

// life goes from open to close; what is planted stays.
func life(t *testing.T, f *standin.Framework, number int, planted string) {
	b, err := objcbridge.Open(f.Config().Bridge)
	require.NoError(t, err)
	x, y := opened(t, f), opened(t, f)
	in, out := wrapped(t, b, x), wrapped(t, b, y)
	p := loaded(t, b, number)
	r := requested(t, p, in, out)
	require.NoError(t, r.Evaluate(p, driverabi.QoSDefault))
	answer := make(chan error, 1)
	_, err = r.Start(p, driverabi.QoSDefault, func(err error) { answer <- err })
	require.NoError(t, err)
	require.NoError(t, <-answer)
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
	if planted == "nothing" || planted == "bytes" { // else the counts see it too
		require.NoError(t, b.Close())
		// The framework's thread lets go of the request a little after it has answered.
		require.Eventually(t, func() bool { return len(f.Leftovers()) == 0 }, patience, time.Millisecond)
	}
}

func opened(t *testing.T, f *standin.Framework) *unimem.Block {
	block, err := unimem.Open(4*64, f.Library().Option())
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

// loaded is a program that nothing has cached.
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

// failing is what a text that is no program comes to.
func failing(t *testing.T, b *objcbridge.Bridge) error {
	p, err := b.NewProgram([]byte("no program"), nil)
	require.NoError(t, err)
	defer p.Close()
	_, err = p.Compile(driverabi.QoSDefault)
	return err
}
