//go:build !macrules

package server

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/await"
	"github.com/anekit/anekit/internal/effort"
	"github.com/anekit/anekit/internal/engine/broker/server/admission"
	"github.com/anekit/anekit/internal/engine/broker/server/resources"
	"github.com/anekit/anekit/internal/engine/broker/server/shared"
	"github.com/anekit/anekit/internal/engine/broker/wire"
	"github.com/anekit/anekit/internal/engine/broker/wire/wiretest"
	"github.com/anekit/anekit/internal/leaktest"
	"github.com/anekit/anekit/models"
)

// sparse is a sealed memfd of a size without a page.
func sparse(size int64) (*os.File, error) {
	fd, err := unix.MemfdCreate("sparse", unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	if err != nil {
		return nil, err
	}
	f := os.NewFile(uintptr(fd), "sparse")
	if err := f.Truncate(size); err != nil {
		return f, err
	}
	_, err = unix.FcntlInt(uintptr(fd), unix.F_ADD_SEALS,
		unix.F_SEAL_SHRINK|unix.F_SEAL_GROW|unix.F_SEAL_WRITE|unix.F_SEAL_SEAL)
	return f, err
}

// greedy is a short program with so many bytes of intermediate values.
func greedy(bytes int) models.Model {
	n := strconv.Itoa(bytes / 4)
	return models.Model{Name: "greedy", Text: []byte(`program(1.3)
{
func main<ios18>(tensor<fp16, [1, 32]> x) {
tensor<fp16, [1, ` + n + `]> a = pad(x = x, pad = tensor<int32, [4]>([0, 0, 0, ` + strconv.Itoa(bytes/4-32) + `]),
    mode = string("constant"), constant_val = fp16(0));
tensor<fp16, [1, ` + n + `]> b = relu(x = a);
tensor<fp16, [1, 32]> y = slice_by_size(x = b, begin = tensor<int32, [2]>([0, 0]), size = tensor<int32, [2]>([1, 32]));
} -> (y);
}`)}
}

// TestSparseUploads: a sealed file of 4 GiB without a page is refused with the number, and gets none.
func TestSparseUploads(t *testing.T) {
	b := startBroker(t, Config{process: allowance{files: 1 << 12, mappings: 1 << 14, memory: 1 << 30}})
	p := b.join(alice, "")
	f, err := sparse(resources.MaxUpload)
	require.NoError(t, err)
	defer f.Close()
	m := model(t, "identity")
	text, err := wire.Seal("text", m.Text)
	require.NoError(t, err)
	defer text.Close()
	for _, q := range []*wire.Compile{
		{File: "text", TextSize: resources.MaxUpload},
		{File: "weights", Weights: []wire.Weight{{Name: "w", Size: resources.MaxUpload}}},
	} {
		err = p.ask(wire.KindCompile, q, &wire.Compiled{}, int(f.Fd()))
		require.ErrorIs(t, err, ane.ErrExhausted, q.File)
		require.ErrorContains(t, err, "bytes of memory beside")
	}
	var s unix.Stat_t
	require.NoError(t, unix.Fstat(int(f.Fd()), &s))
	require.Zero(t, s.Blocks)
	require.NotZero(t, p.counter(t, "refused for want of memory"))
	require.Zero(t, p.counter(t, "own bytes of memory"))
	require.Zero(t, p.counter(t, "own mappings"))
	_, err = p.compile(m)
	require.NoError(t, err)
}

// TestIntermediateValuesAreBudgeted: a program of some hundred bytes is not loaded when its intermediate values are
// more than its client may have, and those of all clients together have a bound.
func TestIntermediateValuesAreBudgeted(t *testing.T) {
	b := startBroker(t, Config{process: allowance{files: 1 << 12, mappings: 1 << 14, memory: 1 << 30}})
	p := b.join(alice, "")
	_, err := p.ready(greedy(1300<<20), 21)
	require.ErrorIs(t, err, ane.ErrExhausted)
	require.ErrorContains(t, err, fmt.Sprintf("at most %d for one client", b.budgets.Now()[resources.Memory].Each))
	loaded := 0
	for i := range 8 {
		_, err := b.join(admission.Identity{User: 1, Executable: [32]byte{byte(i)}}, "").ready(greedy(100<<20), 21)
		if err == nil {
			loaded++
			continue
		}
		require.ErrorIs(t, err, ane.ErrExhausted)
		require.ErrorContains(t, err, "for all")
	}
	require.Equal(t, 5, loaded, "half of the memory; the other half are floors")
	require.LessOrEqual(t, b.budgets.Now()[resources.Memory].Used, int64(1<<30))
	r, err := p.ready(model(t, "conv-3x3"), 21)
	require.NoError(t, err, "a client has its floor")
	require.NoError(t, p.evaluate(r, 0))
}

func init() {
	child["limited"] = func() int {
		l, err := shared.Listen(os.Getenv(pathEnv))
		if err == nil {
			fmt.Println("ready", thisProcess().memory)
			ctx, cancel := context.WithCancel(context.Background())
			go func() {
				_, _ = os.Stdin.Read(make([]byte, 1))
				cancel()
			}()
			err = Serve(ctx, l, Config{Stay: true})
		}
		if err != nil {
			fmt.Println(err)
			return 1
		}
		return 0
	}
}

// TestBrokerLivesInOneGiB: a broker that may have 1 GiB survives clients that ask for all that they can name at once,
// and serves another one after and meanwhile.
func TestBrokerLivesInOneGiB(t *testing.T) {
	if effort.Race {
		t.Skip("the race detector takes several times the memory; run without it")
	}
	leaktest.SkipEmulated(t)
	path := socket(t)
	cmd := exec.Command("/proc/self/exe")
	cmd.Env = append(os.Environ(), childEnv+"=limited", pathEnv+"="+path, "GOMEMLIMIT=1GiB")
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		if cmd.ProcessState == nil { // the test has failed
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
		}
	})
	var memory int64
	_, err = fmt.Fscanf(out, "ready %d\n", &memory)
	require.NoError(t, err)
	require.EqualValues(t, 1<<29, memory)
	eventually(t, "it listens", func() bool { _, err := os.Stat(path); return err == nil })
	sane := dial(t, path)
	r, err := sane.ready(model(t, "conv-3x3"), 21)
	require.NoError(t, err)
	ended := make(chan error, 6)
	for i := range cap(ended) {
		go func() { ended <- hog(path, i) }()
	}
	for range cap(ended) {
		require.NoError(t, await.Value(t, ended))
		require.NoError(t, sane.evaluate(r, 0))
	}
	eventually(t, "what the others had is given back", func() bool {
		return sane.counter(t, "bytes of memory") == sane.counter(t, "own bytes of memory")
	})
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", cmd.Process.Pid))
	require.NoError(t, err)
	_, peak, _ := strings.Cut(string(status), "VmHWM:")
	var kilobytes int64
	_, err = fmt.Sscan(peak, &kilobytes)
	require.NoError(t, err)
	require.Less(t, kilobytes<<10, int64(1<<30), "resident at once")
	late := dial(t, path)
	_, err = late.ready(model(t, "conv-3x3"), 21)
	require.NoError(t, err)
	late.close()
	sane.close()
	require.NoError(t, in.Close())
	require.NoError(t, cmd.Wait())
}

// hog asks for what costs memory, until it is refused, and for each kind of it. It fails when the broker has gone.
func hog(path string, seed int) error {
	conn, err := wiretest.Dial(path)
	if err != nil {
		return err
	}
	p := newPeer(conn)
	defer p.close()
	if err := p.greet(""); err != nil {
		return err
	}
	// Sparse files, as text and as weights.
	f, err := sparse(resources.MaxUpload)
	if err != nil {
		return err
	}
	defer f.Close()
	var ids []uint64
	for range 4 {
		for _, q := range []*wire.Compile{{TextSize: resources.MaxUpload}, {Weights: []wire.Weight{{Name: "w", Size: 1 << 28}}}} {
			id, err := p.post(wire.KindCompile, q, int(f.Fd()))
			if err != nil {
				return err
			}
			ids = append(ids, id)
		}
	}
	for _, id := range ids {
		if err := p.read(id, &wire.Compiled{}); err == nil || conn.Control(func(int) error { return nil }) != nil {
			return fmt.Errorf("sparse file: %w", err)
		}
	}
	// Intermediate values, evaluated so that their pages are there.
	for i := range 12 {
		r, err := p.ready(greedy((40+seed+6*i)<<20), 21)
		if err == nil {
			err = p.evaluate(r, 0)
		}
		if err != nil {
			break
		}
	}
	// Folded constants.
	for i := range 2 {
		text := strings.Replace(string(greedy((60+6*i+seed)<<20).Text), "relu(x = a)", "relu(x = a)", 1)
		text = strings.Replace(text, "a = pad(x = x", `a = pad(x = k`, 1)
		text = strings.Replace(text, "{\nfunc main<ios18>(tensor<fp16, [1, 32]> x) {",
			"{\nfunc main<ios18>(tensor<fp16, [1, 32]> x) {\ntensor<fp16, [1, 32]> k = const()[name = string(\"k\"), "+
				"val = tensor<fp16, [1, 32]>([["+strings.Repeat("1,", 31)+"1]])];", 1)
		if _, err := p.compile(models.Model{Name: "folds", Text: []byte(text)}); err != nil {
			break
		}
	}
	// Long texts.
	for i := range 2 {
		long := []byte("program(1.3)\n{\nfunc main<ios18>(tensor<uint8, [1]> x) {\ntensor<uint8, [1000000]> c = " +
			"const()[name = " +
			"string(\"c\"), val = tensor<uint8, [1000000]>([" + strconv.Itoa(i) + strings.Repeat(",0", 999999) +
			"])];\ntensor<uint8, [1]> y = cast(x = x, dtype = string(\"uint8\"));\n} -> (y);\n}")
		if _, err := p.compile(models.Model{Name: "long", Text: long}); err != nil {
			break
		}
	}
	return p.ask(wire.KindPing, &wire.Empty{}, &wire.Empty{})
}
