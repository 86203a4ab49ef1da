package device

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/unimem"
)

// known is a program whose results are exact in fp16 for the numbers it is given:
// y = 2x + 3. Its rows need no padding.
const known = `program(1.3)
[buildInfo = dict<string, string>({{"coremlc-component-MIL", "3510.2.1"}, {"coremlc-version", "3505.4.1"}, {"coremltools-component-milinternal", ""}, {"coremltools-version", "9.0"}})]
{
    func main<ios18>(tensor<fp16, [1, 64, 4, 32]> x) {
        fp16 two = const()[name = string("two"), val = fp16(0x1p+1)];
        fp16 three = const()[name = string("three"), val = fp16(0x1.8p+1)];
        tensor<fp16, [1, 64, 4, 32]> double = mul(x = x, y = two)[name = string("double")];
        tensor<fp16, [1, 64, 4, 32]> y = add(x = double, y = three)[name = string("y")];
    } -> (y);
}`

// prove runs the known program on locked surfaces and, if its answer is wrong or
// missing, once more with the locks given up during the run. Nobody has published
// whether the engine needs that.
func (e *Engine) prove(ctx context.Context) (err error) {
	x, err := e.Compile(ctx, ane.Source{File: "known.mil", Text: []byte(known)})
	if err != nil {
		return err
	}
	p := &proof{engine: e, x: x.(*executable)}
	defer func() { err = errors.Join(err, p.close()) }()
	if err := p.open(); err != nil {
		return err
	}
	locked := p.run(ctx)
	if locked == nil || ctx.Err() != nil {
		return locked
	}
	e.relock = true
	if unlocked := p.run(ctx); unlocked != nil {
		return fmt.Errorf("the known-answer run fails on locked surfaces (%w) and on unlocked ones (%w)", locked, unlocked)
	}
	e.info.Sharing += "; surfaces are unlocked while the engine runs"
	return nil
}

// proof is the known program with tensors of its own.
type proof struct {
	engine *Engine
	x      *executable
	blocks []*block
	in     *ane.Tensor
	out    *ane.Tensor
	bound  ane.Invocation
	faults []error // of closing the Blocks
	ended  atomic.Bool
}

// open makes the tensors and binds them. The Blocks end with the program, which
// waits for a run that was given up.
func (p *proof) open() (err error) {
	end := p.x.strays.end
	p.x.strays.end = func() {
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

func (p *proof) tensor(l ane.Layout) (*ane.Tensor, error) {
	b, err := unimem.Open(l.Bytes(), p.engine.cfg.Memory...)
	if err != nil {
		return nil, err
	}
	p.blocks = append(p.blocks, b)
	return ane.OnBlock(b, l)
}

// run evaluates and compares.
func (p *proof) run(ctx context.Context) error {
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

// close lets go of everything that no run uses any more.
func (p *proof) close() error {
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
