//go:build cgo

package standin

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/ane/mil/blob"
	"github.com/anekit/anekit/internal/engine/driverabi"
	"github.com/anekit/anekit/internal/plist"
	"github.com/anekit/anekit/objcbridge"
)

// tensorType returns a MIL type.
func tensorType(element string, shape ...int) string {
	text := make([]string, len(shape))
	for i, n := range shape {
		text[i] = fmt.Sprint(n)
	}
	return "tensor<" + element + ", [" + strings.Join(text, ", ") + "]>"
}

// replay is a framework that replays a dump, and the bridge over it.
type replay struct {
	t *testing.T
	f *Framework
	b *objcbridge.Bridge
}

func (r *replay) program(text string) *objcbridge.Program {
	p, err := r.b.NewProgram([]byte(text), nil)
	require.NoError(r.t, err)
	r.t.Cleanup(p.Close)
	return p
}

// is requires an NSError of the framework.
func (r *replay) is(err error, code int64, text string) *objcbridge.Error {
	r.t.Helper()
	var e *objcbridge.Error
	require.ErrorAs(r.t, err, &e)
	require.Equal(r.t, objcbridge.KindNSError, e.Kind, err)
	require.Equal(r.t, code, e.Code, err)
	if text != "" {
		require.Equal(r.t, text, e.Message)
	}
	return e
}

func (r *replay) compileFails(cause string) {
	p := r.program(addition)
	_, err := p.Compile(driverabi.QoSDefault)
	e := r.is(err, 1, "_ANECompiler : ANECCompile() FAILED")
	require.Equal(r.t, driverabi.CompilerErrorDomain, e.Domain)
	require.Equal(r.t, compileError(cause).Underlying[0].Text, e.Causes[0].Message)
}

func (r *replay) loadFails(code int64, text string) {
	p := r.program(addition)
	_, err := p.Compile(driverabi.QoSDefault)
	require.NoError(r.t, err)
	r.is(p.Load(driverabi.QoSDefault), code, text)
}

// ready returns a loaded program and a request with one surface for each symbol.
func (r *replay) ready(text string) (*objcbridge.Program, *objcbridge.Request) {
	p := loadedProgram(r.t, r.b, text)
	root := r.read(p)
	description, _ := root["ANEFModelDescription"].(map[string]any)
	bindings := func(key string) (list []objcbridge.Binding) {
		for i := range description[key].([]any) {
			list = append(list, objcbridge.Binding{Surface: wrapped(r.t, r.f, r.b,
				opened(r.t, 16384, r.f.Surfaces())), Index: i, Bytes: plane})
		}
		return list
	}
	return p, requested(r.t, p, 0, bindings("kANEFModelInputSymbolsArrayKey"),
		bindings("kANEFModelOutputSymbolsArrayKey"))
}

// indexed is a request for a procedure with one input and one output.
func (r *replay) indexed(p *objcbridge.Program, procedure, in, out int) *objcbridge.Request {
	bind := func(index int) []objcbridge.Binding {
		return []objcbridge.Binding{{Surface: wrapped(r.t, r.f, r.b, opened(r.t, 16384, r.f.Surfaces())),
			Index: index, Bytes: 8192}}
	}
	return requested(r.t, p, procedure, bind(in), bind(out))
}

func (r *replay) runs() {
	p, q := r.ready(addition)
	require.NoError(r.t, q.Evaluate(p, driverabi.QoSDefault))
}

func (r *replay) evaluateFails(code int64, text string) {
	p, q := r.ready(addition)
	for range 3 {
		r.is(q.Evaluate(p, driverabi.QoSDefault), code, text)
	}
}

// read returns the attributes of a loaded program.
func (r *replay) read(p *objcbridge.Program) map[string]any {
	raw, err := p.Attributes()
	require.NoError(r.t, err)
	v, err := plist.Read(raw)
	require.NoError(r.t, err)
	return unordered(v).(map[string]any)
}

func (r *replay) attributes(text string) map[string]any {
	return r.read(loadedProgram(r.t, r.b, text))
}

// entry returns the first live entry of a text.
func (r *replay) entry(text string) map[string]any {
	network := r.attributes(text)["NetworkStatusList"].([]any)[0].(map[string]any)
	return network["LiveInputList"].([]any)[0].(map[string]any)
}

// status evaluates a program with the names and shapes of a dump of a compiler's
// status.
func (r *replay) status(file string) {
	text, weights := sums(r.t, dumped(r.t, file).Program)
	p := loadedProgram(r.t, r.b, text, objcbridge.Weight{Path: "@model_path/weights/w.bin", Data: weights})
	require.Equal(r.t, dataOf(r.t, file), any(r.read(p)))
}

// sums returns a text with the tensors of a dump. Its outputs are sums of weights.
func sums(t *testing.T, p *DumpedProgram) (text string, weights []byte) {
	shape := func(d DumpedTensor) string {
		list := []int{int(d.Batches), int(d.Channels), int(d.Height), int(d.Width)}
		if d.Batches > 1 && d.Channels > 1 {
			list = slices.Insert(list, 1, int(d.Depth))
		}
		return tensorType("fp16", list...)
	}
	var w blob.Writer
	var in, body, out []string
	for _, x := range p.Inputs {
		in = append(in, shape(x)+" "+x.Name)
	}
	for _, y := range p.Outputs {
		at, err := w.Add(mil.FP16, make([]byte, 2*y.Batches*y.Depth*y.Channels*y.Height*y.Width), 0)
		require.NoError(t, err)
		body = append(body, fmt.Sprintf(`%[1]s w_%[2]s = const()[name = string("w_%[2]s"), val = %[1]s(BLOBFILE(path = string("@model_path/weights/w.bin"), offset = uint64(%[3]d)))];
			%[1]s %[2]s = add(x = w_%[2]s, y = w_%[2]s)[name = string("%[2]s")];`, shape(y), y.Name, at))
		out = append(out, y.Name)
	}
	return "program(1.3) { func main<ios18>(" + strings.Join(in, ", ") + ") {\n" + strings.Join(body, "\n") +
		"\n} -> (" + strings.Join(out, ", ") + "); }", w.Bytes()
}

// facts requires these results of getters of a loaded model.
func (r *replay) facts(pairs ...any) {
	f, err := loadedProgram(r.t, r.b, addition).Inspect()
	require.NoError(r.t, err)
	all := map[string]uint64{"state": f.State, "handle": f.Handle, "intermediate": f.Intermediate,
		"queueDepth": uint64(f.QueueDepth)}
	for i := 0; i < len(pairs); i += 2 {
		require.EqualValues(r.t, pairs[i+1], all[pairs[i].(string)], pairs[i])
	}
}

func (r *replay) device() objcbridge.Device {
	report, err := objcbridge.Inspect(r.f.Config().Bridge)
	require.NoError(r.t, err)
	return *report.Device
}

// property requires a property of the registry.
func (r *replay) property(name, value string) {
	report, err := objcbridge.Inspect(r.f.Config().Bridge)
	require.NoError(r.t, err)
	at := slices.IndexFunc(report.Registry, func(p objcbridge.Property) bool { return p.Name == name })
	require.GreaterOrEqual(r.t, at, 0, "%s of %v", name, report.Registry)
	require.Equal(r.t, value, report.Registry[at].Value)
}

// wall loads programs until one is rejected.
func (r *replay) wall(programs int, code int64, text string) {
	for range programs {
		loadedProgram(r.t, r.b, addition)
	}
	r.loadFails(code, text)
}
