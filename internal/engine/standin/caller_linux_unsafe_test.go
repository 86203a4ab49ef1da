//go:build linux && cgo

package standin

import (
	"bytes"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"unsafe"

	"github.com/ebitengine/purego"
	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/internal/engine/standin/internal/entry"
)

// caller calls the server like a framework written in C.
type caller struct {
	config      func() string
	size        func(int32) uintptr
	compile     func(directory string, program *uint64, message *byte, capacity uintptr) int32
	attributes  func(program uint64, plist *byte, capacity uintptr) uintptr
	threads     func(r *run, count int32) uint32
	dropRequest func(uint64)
	dropProgram func(uint64)
	evaluateAt  uintptr
	configAt    uintptr
}

// run is struct run of caller.c.
type run struct {
	program, request        uint64
	inputs, outputs         *uint32
	inputCount, outputCount int32
}

// newCaller builds the C side and starts it with s.
func newCaller(t testing.TB, s *server, o Options) *caller {
	file := filepath.Join(t.TempDir(), "libcaller.so")
	out, err := exec.Command("cc", "-shared", "-fPIC", "-Wall", "-Werror", "-I../../../objcbridge/standin",
		"-o", file, "testdata/caller.c", "-lpthread").CombinedOutput()
	require.NoError(t, err, string(out))
	lib, err := purego.Dlopen(file, purego.RTLD_NOW|purego.RTLD_LOCAL)
	require.NoError(t, err)
	symbol := func(name string) uintptr {
		at, err := purego.Dlsym(lib, name)
		require.NoError(t, err)
		return at
	}
	c := &caller{evaluateAt: symbol("caller_evaluate"), configAt: symbol("caller_config")}
	purego.RegisterFunc(&c.config, symbol("caller_config"))
	purego.RegisterFunc(&c.size, symbol("caller_size"))
	purego.RegisterFunc(&c.compile, symbol("caller_compile"))
	purego.RegisterFunc(&c.attributes, symbol("caller_attributes"))
	purego.RegisterFunc(&c.threads, symbol("caller_threads"))
	purego.RegisterFunc(&c.dropRequest, symbol("caller_drop_request"))
	purego.RegisterFunc(&c.dropProgram, symbol("caller_drop_program"))

	other := entry.Serve(s)
	var start func(*cConfig) int32
	purego.RegisterFunc(&start, symbol("standin_start"))
	var pins runtime.Pinner
	require.Zero(t, start(pinned(&pins, o, nil)))
	t.Cleanup(func() {
		entry.Serve(other)
		pins.Unpin()
	})
	return c
}

func (c *caller) evaluate(r *run, procedure uint32) uint32 {
	status, _, _ := purego.SyscallN(c.evaluateAt, uintptr(unsafe.Pointer(r)), uintptr(procedure))
	return uint32(status)
}

// running returns a run on surfaces, pinned while C reads it.
func running(t testing.TB, program, request uint64, in, out []uint32) *run {
	r := &run{program: program, request: request, inputs: unsafe.SliceData(in), outputs: unsafe.SliceData(out),
		inputCount: int32(len(in)), outputCount: int32(len(out))}
	var p runtime.Pinner
	p.Pin(r)
	p.Pin(r.inputs)
	p.Pin(r.outputs)
	t.Cleanup(p.Unpin)
	return r
}

func TestOptionsReachTheFramework(t *testing.T) {
	s := newServer(newFake(t, 0), nil)
	c := newCaller(t, s, Options{Profile: "17", Missing: []string{"_ANEClient", "_ANEModel key"},
		Changed: []string{"A b c"}, Pool: "pool"})
	require.Equal(t, "17|_ANEClient|_ANEModel key|changed|A b c|pool|", c.config())
	require.Equal(t, "26|changed|no pool|", newCaller(t, s, Options{}).config())
}

func TestMirroredStructSizes(t *testing.T) {
	c := newCaller(t, newServer(newFake(t, 0), nil), Options{})
	for i, size := range []uintptr{unsafe.Sizeof(cConfig{}), unsafe.Sizeof(cServer{}), unsafe.Sizeof(Counts{}),
		unsafe.Sizeof(SurfaceCounts{})} {
		require.Equal(t, c.size(int32(i)), size, "structure %d", i)
	}
}

func TestServerFromC(t *testing.T) {
	m := newFake(t, 3)
	c := newCaller(t, newServer(m, nil), Options{})
	var program uint64
	message := make([]byte, 400)
	dir := write(t, map[string]string{"model.mil": addition})
	require.Zero(t, c.compile(dir, &program, &message[0], 400), string(message))

	need := c.attributes(program, nil, 0)
	require.Greater(t, need, uintptr(100))
	plist := make([]byte, need+1)
	require.Equal(t, need, c.attributes(program, &plist[0], 10))
	require.Equal(t, byte(0), plist[10], "no byte is written beyond the capacity")
	require.Equal(t, need, c.attributes(program, &plist[0], need))
	require.Contains(t, decode(t, plist[:need]), "NetworkStatusList")
	require.Zero(t, c.attributes(program+1, &plist[0], need))

	fill(m.bytes(1), 6)
	fill(m.bytes(2), 2)
	r := running(t, program, 5, []uint32{1, 2}, []uint32{3})
	require.EqualValues(t, done, c.evaluate(r, 0))
	require.Equal(t, filled(4), m.bytes(3))
	require.EqualValues(t, badIndex, c.evaluate(r, 1))
	require.EqualValues(t, badIndex, c.evaluate(running(t, program, 6, []uint32{1}, []uint32{3}), 0))
	require.EqualValues(t, done, c.threads(r, 16))
	floor := testing.AllocsPerRun(200, func() { purego.SyscallN(c.configAt, 0, 0) })
	require.Equal(t, floor, testing.AllocsPerRun(200, func() { c.evaluate(r, 0) }),
		"the calls from C into Go and back add none")

	c.dropRequest(5)
	require.Zero(t, m.opened)
	c.dropProgram(program)
	require.EqualValues(t, notFound, c.evaluate(r, 0))
}

func TestCompileFromCReportsFaults(t *testing.T) {
	c := newCaller(t, newServer(newFake(t, 0), nil), Options{})
	dir := write(t, map[string]string{"model.mil": functions(`func main<ios18>(T x) { T y = nosuch(x = x)[name = string("y")]; } -> (y);`)})
	var program uint64
	for _, room := range []int{0, 1, 20, 4096} {
		message := bytes.Repeat([]byte{0xff}, room+1)
		require.EqualValues(t, 1, c.compile(dir, &program, &message[0], uintptr(room)))
		require.EqualValues(t, 0xff, message[room], "no byte is written beyond the capacity")
		message, _, ended := bytes.Cut(message[:room], []byte{0})
		require.Equal(t, room > 0, ended)
		if room == 4096 {
			require.Contains(t, string(message), "model.mil:3:")
			require.Contains(t, string(message), "unknown operator nosuch")
		}
	}
	require.EqualValues(t, 1, c.compile(dir, &program, nil, 100), "a caller without a buffer for the message")
	require.Zero(t, program)
}

func TestPanicsDoNotCrossC(t *testing.T) {
	m := newFake(t, 3)
	s := newServer(m, nil)
	c := newCaller(t, s, Options{})
	var program uint64
	message := make([]byte, 200)
	dir := write(t, map[string]string{"model.mil": addition})
	require.Zero(t, c.compile(dir, &program, &message[0], 200))
	r := running(t, program, 5, []uint32{1, 2}, []uint32{3})
	require.EqualValues(t, done, c.evaluate(r, 0))

	log := logged(t)
	entry.Serve((*server)(nil)) // every call panics with a nil pointer
	require.EqualValues(t, 1, c.compile(dir, &program, &message[0], 200))
	require.Contains(t, string(message), "panicked")
	require.Zero(t, c.attributes(program, nil, 0))
	require.EqualValues(t, failed, c.evaluate(r, 0))
	c.dropRequest(5)
	c.dropProgram(program)
	require.Equal(t, 5, strings.Count(log.String(), "panicked"))
	entry.Serve(s)
	c.dropProgram(program)
	c.dropRequest(5)
}

// BenchmarkFromC is a warm evaluation with the calls from Go into C and from C
// into Go. The floor is only the call into C.
func BenchmarkFromC(b *testing.B) {
	s, _, h := compiled(b, 3, addition)
	c := newCaller(b, s, Options{})
	r := running(b, h, 1, []uint32{1, 2}, []uint32{3})
	b.ReportAllocs()
	for b.Loop() {
		if c.evaluate(r, 0) != 0 {
			b.Fatal("failed")
		}
	}
}

func BenchmarkFromCFloor(b *testing.B) {
	c := newCaller(b, newServer(newFake(b, 0), nil), Options{})
	b.ReportAllocs()
	for b.Loop() {
		purego.SyscallN(c.configAt, 0, 0)
	}
}
