package apple

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/internal/host"
	"github.com/anekit/anekit/internal/libsystem"
	"github.com/anekit/anekit/objcbridge"
	"github.com/anekit/anekit/unimem"
)

// known are forms of one program, y = 2x + 3, whose results are exact in fp16 for its
// inputs. Its rows need no padding. The first form is for macOS 15 and later, the second,
// in the older dialect, for macOS 13 and 14.
var known = [...]struct {
	opset   string
	dialect mil.Dialect
	text    string
}{
	{"ios18", mil.NewText, `program(1.3)
[buildInfo = dict<string, string>({{"coremlc-component-MIL", "3510.2.1"}, {"coremlc-version", "3505.4.1"}, {"coremltools-component-milinternal", ""}, {"coremltools-version", "9.0"}})]
{
    func main<ios18>(tensor<fp16, [1, 64, 4, 32]> x) {
        fp16 two = const()[name = string("two"), val = fp16(0x1p+1)];
        fp16 three = const()[name = string("three"), val = fp16(0x1.8p+1)];
        tensor<fp16, [1, 64, 4, 32]> double = mul(x = x, y = two)[name = string("double")];
        tensor<fp16, [1, 64, 4, 32]> y = add(x = double, y = three)[name = string("y")];
    } -> (y);
}`},
	{"ios16", mil.OldText, `program(1.0)
[buildInfo = dict<tensor<string, []>, tensor<string, []>>({{"coremlc-component-MIL", "3510.2.1"}, {"coremlc-version", "3505.4.1"}, {"coremltools-component-milinternal", ""}, {"coremltools-version", "9.0"}})]
{
    func main<ios16>(tensor<fp16, [1, 64, 4, 32]> x) {
        tensor<fp16, []> two = const()[name = tensor<string, []>("two"), val = tensor<fp16, []>(0x1p+1)];
        tensor<fp16, []> three = const()[name = tensor<string, []>("three"), val = tensor<fp16, []>(0x1.8p+1)];
        tensor<fp16, [1, 64, 4, 32]> double = mul(x = x, y = two)[name = tensor<string, []>("double")];
        tensor<fp16, [1, 64, 4, 32]> y = add(x = double, y = three)[name = tensor<string, []>("y")];
    } -> (y);
}`},
}

// Known are the framework's facts about the known-answer program.
type Known struct {
	Opset      string           // of the form last tried
	Text       string           // text of that form
	Attributes []byte           // as JSON; nil if the program was not loaded
	Facts      objcbridge.Facts // facts about the loaded program
}

// observation records facts about a program while a call, perhaps abandoned, compiles it.
type observation struct {
	mu    sync.Mutex
	known Known
}

func (w *observation) record(attributes []byte, facts objcbridge.Facts) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.known.Attributes, w.known.Facts = attributes, facts
}

func (w *observation) get() Known {
	if w == nil {
		return Known{}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.known
}

// probe runs the known program on locked surfaces. If the result is wrong or missing, it
// runs it again with the surfaces unlocked. No public source documents whether the engine
// needs that.
func (e *Engine) probe(ctx context.Context) (err error) {
	x, err := e.compileKnown(ctx)
	if err != nil {
		return err
	}
	p := &probeRun{engine: e, x: x}
	defer func() { err = errors.Join(err, p.close()) }()
	if err := p.open(); err != nil {
		return err
	}
	locked := p.run(ctx)
	if locked == nil || ctx.Err() != nil {
		return locked
	}
	e.relock = true
	e.errors.recovered(locked)
	if unlocked := p.run(ctx); unlocked != nil {
		return fmt.Errorf("the known-answer run fails on locked surfaces (%w) and on unlocked ones (%w)", locked,
			unlocked)
	}
	e.info.Sharing += "; surfaces are unlocked while the engine runs"
	return nil
}

// compileKnown compiles the first form that the framework's compiler accepts, whose dialect
// is that of later programs. If it accepts none, the error is that of the first form.
func (e *Engine) compileKnown(ctx context.Context) (*executable, error) {
	var first error
	for _, form := range known {
		seen := &observation{known: Known{Opset: form.opset, Text: form.text}}
		e.seen.Store(seen)
		x, err := e.compile(ctx, ane.Source{File: "known-" + form.opset + ".mil", Text: []byte(form.text)}, seen)
		if err == nil {
			if first != nil {
				e.errors.recovered(first)
			}
			e.info.Dialect = form.dialect
			return x, nil
		}
		if first == nil {
			first = err
		}
		if !errors.Is(err, ane.ErrCompile) {
			break
		}
	}
	return nil, first
}

// probeRun is the known program with its own tensors.
type probeRun struct {
	engine *Engine
	x      *executable
	blocks []*block
	in     *ane.Tensor
	out    *ane.Tensor
	bound  ane.Invocation
	faults []error // errors of closing the Blocks
	ended  atomic.Bool
}

// open makes the tensors and binds them. The Blocks are closed with the program, which
// waits for an abandoned run.
func (p *probeRun) open() (err error) {
	end := p.x.abandoned.release
	p.x.abandoned.release = func() {
		end()
		for _, b := range p.blocks {
			p.faults = append(p.faults, b.Close())
		}
		p.ended.Store(true)
	}
	if p.in, err = p.tensor(p.x.in[0].Layout); err != nil {
		return err
	}
	if p.out, err = p.tensor(p.x.out[0].Layout); err != nil {
		return err
	}
	p.bound, err = p.x.Prepare([]*ane.Tensor{p.in}, []*ane.Tensor{p.out})
	return err
}

func (p *probeRun) tensor(l ane.Layout) (*ane.Tensor, error) {
	b, err := unimem.Open(max(l.Bytes(), minSurface), p.engine.cfg.Memory...)
	if err != nil {
		return nil, err
	}
	p.blocks = append(p.blocks, b)
	return ane.OnBlock(b, l)
}

// run evaluates and compares the results.
func (p *probeRun) run(ctx context.Context) error {
	x := make([]float32, p.in.Layout().Elements())
	y := make([]float32, len(x))
	for i := range x {
		x[i], y[i] = float32(i%199-99), -1
	}
	if _, err := p.in.WriteFloat32(x); err != nil {
		return err
	}
	if _, err := p.out.WriteFloat32(y); err != nil {
		return err
	}
	if err := p.bound.Evaluate(ctx); err != nil {
		return err
	}
	if _, err := p.out.ReadFloat32(y); err != nil {
		return err
	}
	for i, got := range y {
		if want := 2*x[i] + 3; got != want {
			return fmt.Errorf("element %d is %v, want %v", i, got, want)
		}
	}
	return nil
}

// close releases everything that no abandoned run uses.
func (p *probeRun) close() error {
	if p.bound != nil {
		if err := p.bound.Close(); err != nil {
			return err
		}
	}
	if err := p.x.Close(); err != nil || !p.ended.Load() {
		return err
	}
	return errors.Join(p.faults...)
}

// Machine returns nil on macOS on Apple silicon, or why Apple's engine cannot be here.
func Machine() error {
	if host.Apple {
		return nil
	}
	n, err := libsystem.SysctlUint64("sysctl.proc_translated") // only a Mac that can translate has it
	return otherMachine(host.Platform, err == nil && n == 1)
}

// otherMachine names the system, and Rosetta if it runs this process.
func otherMachine(platform string, translated bool) error {
	text := "needs macOS on Apple silicon, this is " + platform
	if translated {
		text += " under Rosetta; build the program with GOARCH=arm64"
	}
	return errors.New(text)
}
