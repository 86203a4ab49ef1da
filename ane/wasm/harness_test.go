package wasm_test

import (
	"context"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/engine"
	"github.com/anekit/anekit/ane/fp16"
	"github.com/anekit/anekit/ane/mil/build"
	"github.com/anekit/anekit/ane/wasm"
	"github.com/anekit/anekit/internal/brokertest"
)

// side is the width and height of the matrices.
const side = 128

// product is the program c = a b.
func product(t testing.TB) ane.Source {
	b := build.New()
	f := b.Func("main")
	f.Output("c", f.Matmul(f.Input("a", build.FP16, 1, 1, side, side), f.Input("b", build.FP16, 1, 1, side, side)))
	p, err := b.Program()
	require.NoError(t, err)
	return ane.Source{File: "product.mil", Program: p}
}

// path is a way in which tensors reach the engine.
type path struct {
	name    string
	engine  string
	opts    []engine.Option
	host    []wasm.Option
	align   int
	copying bool
}

func paths() []path {
	return []path{
		{name: "place", engine: engine.Soft, opts: []engine.Option{engine.AllowOffsets()}, align: ane.RowAlign},
		{name: "surface", engine: engine.Soft, align: 16384},
		{name: "broker", engine: engine.Broker, opts: []engine.Option{engine.BrokerPath("")}, align: 16384},
		{name: "copying", engine: engine.Soft, host: []wasm.Option{wasm.Copying()}, align: ane.RowAlign, copying: true},
	}
}

// overPaths runs a test on each path.
func overPaths(t *testing.T, test func(*testing.T, *rig)) {
	for _, r := range paths() {
		t.Run(r.name, func(t *testing.T) {
			if r.engine == engine.Broker {
				brokertest.Need(t)
			}
			test(t, newRig(t, r))
		})
	}
}

// rig is a Host with the program "product".
type rig struct {
	t      testing.TB
	path   path
	device *ane.Device
	host   *wasm.Host
}

func newRig(t testing.TB, r path, opts ...engine.Option) *rig {
	t.Helper()
	ctx := context.Background()
	d, err := engine.Open(ctx, r.engine, append(r.opts, opts...)...)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, d.Close()) })
	h, err := wasm.NewHost(ctx, d, append(r.host, wasm.Program("product", product(t)))...)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, h.Close(ctx)) })
	return &rig{t, r, d, h}
}

// tester is a test, or a case of a property.
type tester interface {
	rapid.TB
	Cleanup(f func())
}

// guest is a Guest of a binary of testdata, with its calls.
type guest struct {
	*wasm.Guest
	t rapid.TB
}

func (r *rig) start(file string, limits wasm.Limits) *guest {
	return begin(r.t, r.compile(file), limits)
}

func (r *rig) compile(file string) *wasm.Binary {
	r.t.Helper()
	ctx := context.Background()
	text, err := os.ReadFile("testdata/" + file)
	require.NoError(r.t, err)
	code, err := r.host.Compile(ctx, text)
	require.NoError(r.t, err)
	r.t.Cleanup(func() { require.NoError(r.t, code.Close(ctx)) })
	return code
}

func begin(t tester, code *wasm.Binary, limits wasm.Limits) *guest {
	t.Helper()
	ctx := context.Background()
	g, err := code.Start(ctx, limits)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, g.Close(ctx)) })
	return &guest{g, t}
}

// try calls an export with i32 parameters.
func (g *guest) try(name string, args ...int) (int, error) {
	stack := make([]uint64, len(args))
	for i, a := range args {
		stack[i] = uint64(uint32(a))
	}
	results, err := g.Call(context.Background(), name, stack...)
	if err != nil || len(results) == 0 {
		return 0, err
	}
	return int(int32(uint32(results[0]))), nil
}

func (g *guest) call(name string, args ...int) int {
	g.t.Helper()
	n, err := g.try(name, args...)
	require.NoError(g.t, err)
	return n
}

// need requires a result that is no error.
func (g *guest) need(name string, args ...int) int {
	g.t.Helper()
	n := g.call(name, args...)
	require.GreaterOrEqual(g.t, n, 0, "%s: %s", name, g.lastError())
	return n
}

// refused requires a code.
func (g *guest) refused(code wasm.Code, name string, args ...int) {
	g.t.Helper()
	require.Equal(g.t, code, wasm.Code(g.call(name, args...)), "%s: %s", name, g.lastError())
	if code < 0 {
		require.NotEmpty(g.t, g.lastError())
	}
}

// textAt is where put writes a text.
const textAt = 64

// put writes a text to the guest's memory and returns its place.
func (g *guest) put(text string) (ptr, n int) {
	g.t.Helper()
	b, err := g.Memory().Range(textAt, uint64(len(text)))
	require.NoError(g.t, err)
	copy(b, text)
	return textAt, len(text)
}

func (g *guest) lastError() string {
	const at, most = 2048, 1024
	n := g.call("error_text", at, most)
	b, err := g.Memory().Range(at, uint64(n))
	require.NoError(g.t, err)
	return string(b)
}

// named calls an export whose parameters begin with a handle and a text.
func (g *guest) named(name string, handle int, text string, more ...int) int {
	g.t.Helper()
	ptr, n := g.put(text)
	return g.call(name, append([]int{handle, ptr, n}, more...)...)
}

// open opens the program "product" and a request.
func (g *guest) open() (program, request int) {
	g.t.Helper()
	ptr, n := g.put("product")
	program = g.need("program_open", ptr, n)
	return program, g.need("request_open", program)
}

// place of the matrices in the guest's memory: each has whole pages of 16 KiB.
const (
	bytesOf = side * side * 2
	aAt     = 65536
	bAt     = aAt + bytesOf
	cAt     = bAt + bytesOf
)

// bindAll binds the three matrices.
func (g *guest) bindAll(request int) {
	g.t.Helper()
	for i, name := range []string{"a", "b", "c"} {
		require.Zero(g.t, g.named("bind", request, name, aAt+i*bytesOf, bytesOf), "%s", g.lastError())
	}
}

// fill writes small integers to a and b, through the guest's memory.
func (g *guest) fill(seed int) {
	g.t.Helper()
	for m := range 2 {
		b, err := g.Memory().Range(uint64(aAt+m*bytesOf), bytesOf)
		require.NoError(g.t, err)
		for i := range side * side {
			v := fp16.FromFloat32(float32((i*7+i/side*3+m+seed)%5 - 2))
			b[2*i], b[2*i+1] = byte(v), byte(v>>8)
		}
	}
}

// wrong counts the elements of c that differ from the product of integers.
func (g *guest) wrong(seed int) (n int) {
	g.t.Helper()
	value := func(m, i int) int { return (i*7+i/side*3+m+seed)%5 - 2 }
	c, err := g.Memory().Range(cAt, bytesOf)
	require.NoError(g.t, err)
	for row := range side {
		for col := range side {
			want := 0
			for k := range side {
				want += value(0, row*side+k) * value(1, k*side+col)
			}
			i := 2 * (row*side + col)
			if (fp16.Bits(c[i]) | fp16.Bits(c[i+1])<<8).Float32() != float32(want) {
				n++
			}
		}
	}
	return n
}

func wasmFile(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile("testdata/" + name)
	require.NoError(t, err)
	return b
}
