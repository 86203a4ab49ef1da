package engine_test

import (
	"fmt"
	"io/fs"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/chip"
	"github.com/anekit/anekit/ane/engine"
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/ane/mil/blob"
	"github.com/anekit/anekit/ane/mil/lint"
	"github.com/anekit/anekit/internal/brokertest"
	"github.com/anekit/anekit/internal/effort"
	"github.com/anekit/anekit/internal/engine/emulate"
	"github.com/anekit/anekit/internal/leaktest"
)

// What Apple's software says of a program that breaks a rule. Every other rule gives no reason.
const (
	compilerDomain = "com.apple.appleneuralengine.compiler"
	engineDomain   = "com.apple.appleneuralengine"
	noReason       = "_ANECompiler : ANECCompile() FAILED, because ANECCompile(..) FAILED: err=()"
	invalidMIL     = "_ANECompiler : ANECCompile() FAILED, because ANECCompile(..) FAILED: err=(InvalidMILProgram)"
	inference      = "ANEProgramProcessRequestDirect() Failed with status=0x1d : statusType=0x9: Program Inference " +
		"error"
	loadFailure  = "Program load failure (0x50004)"
	processEnded = "the framework answers NO without an NSError"
)

var invalidRules = strings.Fields("bare-literal blob-path block-quantization cast-type concat-interleave conv-groups " +
	"dead-output epsilon-missing gelu-mode int4-operand io-type syntax types unknown-operator " +
	"unused-input int4-blocks rank vector-palette")

// blanks are weights of zeros of whatever shape the program names.
type blanks struct{ needs map[string][]blob.Need }

func (b blanks) ReadFile(path string) ([]byte, error) {
	needs := b.needs[path]
	if needs == nil {
		return nil, &fs.PathError{Op: "open", Path: path, Err: fs.ErrNotExist}
	}
	return blob.Blank(path, 1<<30, needs)
}

func blanksFor(text []byte) blanks {
	b := blanks{map[string][]blob.Need{}}
	p, err := mil.ParseTree("p.mil", text)
	if err != nil {
		return b
	}
	for _, v := range p.Weights() {
		if path, offset, err := v.Blob().Entry(); err == nil {
			b.needs[path] = append(b.needs[path], blob.Need{Offset: offset, Type: v.Type})
		}
	}
	return b
}

// emulating opens an engine that emulates a chip in a process of its own.
func emulating(t *testing.T, name string, c chip.Chip) *ane.Device {
	t.Helper()
	return hosted(t, name, c, emulate.NewHost())
}

func hosted(t *testing.T, name string, c chip.Chip, h *emulate.Host) *ane.Device {
	t.Helper()
	d, err := engine.Open(t.Context(), name, engine.Wrap(func(e ane.Engine) ane.Engine {
		return emulate.New(e, c, h)
	}))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, d.Close()) })
	return d
}

// ruined compiles and evaluates a program, and returns the first error.
func ruined(t *testing.T, d *ane.Device, text []byte) (err error) {
	t.Helper()
	m, err := d.Compile(t.Context(), ane.Source{File: "p.mil", Text: text, Weights: blanksFor(text)})
	if err != nil {
		return err
	}
	defer func() { require.NoError(t, m.Close(t.Context())) }()
	if m.Inputs()[0].Bytes() > 64<<20 {
		return m.Load(t.Context())
	}
	r, err := m.NewRequest(t.Context())
	if err != nil {
		return err
	}
	defer func() { require.NoError(t, r.Close()) }()
	_, err = r.Evaluate(t.Context())
	return err
}

// engines lists the engines that emulate.
func engines(t *testing.T) []string {
	t.Helper()
	if !brokertest.Here() {
		return []string{engine.Soft}
	}
	return []string{engine.Soft, engine.Broker}
}

// Each program that lint calls an error for the chip fails with the chip's words, and one that barely does not break
// the rule runs.
func TestEmulateFailsWhereTheChipDoes(t *testing.T) {
	a, err := txtar.ParseFile("testdata/emulate.txtar")
	require.NoError(t, err)
	tested := map[string]bool{"conv-chain": true}
	for _, name := range engines(t) {
		devices := map[chip.Chip]*ane.Device{}
		on := func(c chip.Chip) *ane.Device {
			if devices[c] == nil {
				devices[c] = emulating(t, name, c)
			}
			return devices[c]
		}
		for i, f := range a.Files {
			words := strings.Fields(f.Name)
			rule, breaks := words[0], words[2] == "breaks"
			tested[rule] = true
			c, err := chip.Parse(words[1])
			require.NoError(t, err)
			if i%4 != 0 && !effort.Full() {
				continue
			}
			if !breaks {
				require.NoError(t, ruined(t, on(c), f.Data), "%s: %s", name, f.Name)
				continue
			}
			d := on(c)
			if rule == "dynamic-shape" { // the engine refuses it before any compiler, on every chip
				require.ErrorContains(t, ruined(t, d, f.Data), "give --shape", name)
				continue
			}
			if rule == "tile-poison" { // it spoils its process
				d = emulating(t, name, c)
			}
			refused(t, ruined(t, d, f.Data), rule, name)
		}
		refused(t, ruined(t, on(chip.M6), convChain(387)), "conv-chain", name)
		require.NoError(t, ruined(t, on(chip.M6), convChain(386)))
	}
	for _, r := range lint.Rules() {
		runs := strings.Fields("blob-offset blob-overlap slice-scale dynamic-conv-ignored state opset-os " +
			"state-width weight-file") // the last are of Core ML, and of files that the engine refuses itself
		if r.Severity == lint.Error && !tested[r.ID] && !contains(runs, r.ID) {
			t.Errorf("rule %s is an error, and nothing says what emulation does with it", r.ID)
		}
	}
}

func contains(list []string, s string) bool {
	for _, l := range list {
		if l == s {
			return true
		}
	}
	return false
}

// refused checks domain, code and text.
func refused(t *testing.T, err error, rule, name string) {
	t.Helper()
	domain, code, text, kind := compilerDomain, 1, noReason, ane.ErrCompile
	switch rule {
	case "tile-poison":
		domain, code, text, kind = engineDomain, 8, inference, ane.ErrShort
	case "large-surface":
		domain, code, text, kind = engineDomain, 6, loadFailure, ane.ErrExhausted
	case "conv-chain", "dynamic-conv-batch":
		domain, code, text = "", 0, processEnded
	default:
		if contains(invalidRules, rule) {
			text = invalidMIL
		}
	}
	require.Error(t, err, "%s: %s", name, rule)
	var e *ane.Error
	require.ErrorAs(t, err, &e, rule)
	require.Equal(t, domain, e.Domain, "%s: %s: %v", name, rule, err)
	require.Equal(t, code, e.Code, rule)
	require.ErrorIs(t, err, kind, rule)
	require.Contains(t, err.Error(), text, rule)
	require.Equal(t, name, e.Engine)
	if domain != "" {
		var ns *emulate.NSError
		require.ErrorAs(t, err, &ns)
		require.Equal(t, code, ns.Code)
		if rule == "topk" {
			require.Equal(t, 22, ns.Cause.Code)
		}
	}
	if kind == ane.ErrCompile {
		var list mil.ErrorList
		require.ErrorAs(t, err, &list)
		require.Contains(t, list.Error(), "["+rule+"]", rule)
	}
}

// convChain is a chain of n convolutions with one weight.
func convChain(n int) []byte {
	const typ = "tensor<fp16, [1, 16, 1, 32]>"
	var b strings.Builder
	b.WriteString("program(1.3)\n{\n    func main<ios18>(" + typ + " x) {\n        tensor<fp16, [16, 16, 1, 1]> w = " +
		"const()[name = string(\"w\"), val = tensor<fp16, [16, 16, 1, 1]>(BLOBFILE(path = " +
		"string(\"@model_path/w.bin\"), offset = uint64(64)))];\n")
	last := "x"
	for i := range n {
		fmt.Fprintf(&b, "        %s v%d = conv(dilations = tensor<int32, [2]>([1, 1]), groups = int32(1), pad = "+
			"tensor<int32, [4]>([0, 0, 0, 0]), pad_type = string(\"valid\"), strides = tensor<int32, [2]>([1, 1]), "+
			"weight = w, x = %s)[name = string(\"v\")];\n", typ, i, last)
		last = fmt.Sprintf("v%d", i)
	}
	b.WriteString("    } -> (" + last + ");\n}\n")
	return []byte(b.String())
}

// scale is a program with a factor of its own.
func scale(factor int) []byte {
	return fmt.Appendf(nil, `program(1.3)
{
    func main<ios18>(tensor<fp16, [1, 64, 1, 32]> x) {
        tensor<fp16, [1, 64, 1, 32]> y = mul(x = x, y = fp16(%d))[name = string("y")];
    } -> (y);
}`, factor)
}

// An M4 keeps 126 programs loaded; unloading or closing one makes room.
func TestEmulateLoadSlots(t *testing.T) {
	d := emulating(t, engine.Soft, chip.M4)
	var models []*ane.Model
	for i := range 127 {
		m, err := d.Compile(t.Context(), ane.Source{Text: scale(i % 100)})
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, m.Close(t.Context())) })
		models = append(models, m)
		if i < 126 {
			require.NoError(t, m.Load(t.Context()), i)
		}
	}
	last := models[126]
	for range 2 {
		err := last.Load(t.Context())
		require.ErrorIs(t, err, ane.ErrExhausted)
		var e *ane.Error
		require.ErrorAs(t, err, &e)
		require.Equal(t, engineDomain, e.Domain)
		require.Equal(t, 6, e.Code)
		require.Contains(t, err.Error(), loadFailure)
	}
	require.NoError(t, models[3].Unload(t.Context()))
	require.NoError(t, models[3].Unload(t.Context()))
	require.NoError(t, last.Load(t.Context()))
	require.Error(t, models[3].Load(t.Context()))
	require.NoError(t, models[4].Close(t.Context()))
	require.NoError(t, models[3].Load(t.Context()))
}

// After a program with tile every evaluation of the process fails on an M3, also of requests made before and of chains.
func TestEmulatePoison(t *testing.T) {
	a, err := txtar.ParseFile("testdata/emulate.txtar")
	require.NoError(t, err)
	var tile []byte
	for _, f := range a.Files {
		if f.Name == "tile-poison m3 breaks" {
			tile = f.Data
		}
	}
	for _, name := range engines(t) {
		d := emulating(t, name, chip.M3)
		m, err := d.Compile(t.Context(), ane.Source{Text: scale(2)})
		require.NoError(t, err)
		r, err := m.NewRequest(t.Context())
		require.NoError(t, err)
		_, err = r.Evaluate(t.Context())
		require.NoError(t, err)
		_, err = d.EvaluateChain(t.Context(), r, r)
		require.NoError(t, err, "a chain reaches the broker's own invocations, and any other engine takes one step by step")
		refused(t, ruined(t, d, tile), "tile-poison", name)
		_, err = r.Evaluate(t.Context())
		refused(t, err, "tile-poison", name)
		_, err = d.EvaluateChain(t.Context(), r)
		refused(t, err, "tile-poison", name)
		require.NoError(t, r.Close())
		require.NoError(t, m.Close(t.Context()))
	}
}

// The option names the chip in receipts, and is refused where nothing is emulated.
func TestEmulateOption(t *testing.T) {
	leaktest.SkipEmulated(t)
	for _, s := range engine.Probe() {
		d, err := engine.Open(t.Context(), s.Name, engine.Emulate(chip.M2))
		if s.Name == engine.Soft || s.Name == engine.Broker && s.Available {
			require.NoError(t, err)
			require.Equal(t, "h14, emulated", d.Receipt().Chip)
			text := strings.Replace(string(scale(2)), "mul(x = x, y = fp16(2))", "sin(x = x)", 1)
			_, err = d.Compile(t.Context(), ane.Source{Text: []byte(text)})
			require.ErrorIs(t, err, ane.ErrCompile)
			require.ErrorContains(t, err, "the compiler for h14 refuses the program")
			require.NoError(t, d.Close())
			continue
		}
		require.ErrorIs(t, err, ane.ErrUnavailable, s.Name)
	}
	for _, name := range []string{engine.Apple, engine.StandIn} {
		_, err := engine.Open(t.Context(), name, engine.Emulate(chip.M2))
		require.ErrorContains(t, err, "emulates no chip")
	}
	d, err := engine.Open(t.Context(), engine.Auto, engine.Emulate(chip.M6))
	require.NoError(t, err)
	require.Equal(t, engine.Soft, d.Info().Name)
	require.NoError(t, d.Close())
	require.Same(t, emulate.Process(chip.M2), emulate.Process(chip.M2))
	require.NotSame(t, emulate.Process(chip.M2), emulate.Process(chip.M1))
}
