package apple_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/chip"
	"github.com/anekit/anekit/internal/engine/apple"
	"github.com/anekit/anekit/internal/engine/standin"
	"github.com/anekit/anekit/unimem"
)

// sum has inputs of 4 KiB and 64 bytes, and an output of 4 KiB.
const sum = `program(1.3)
{
    func main<ios18>(tensor<fp16, [1, 64, 1, 32]> a, tensor<fp16, [1, 1, 1, 32]> b) {
        tensor<fp16, [1, 64, 1, 32]> y = add(x = a, y = b)[name = string("y")];
    } -> (y);
}`

// sized evaluates sum on surfaces of several sizes and returns the errors.
func sized(f *standin.Framework, e *apple.Engine) map[string]string {
	d, err := ane.Open(keptOpen{e}, "")
	if err != nil {
		return map[string]string{"open": err.Error()}
	}
	ctx := context.Background()
	m, err := d.Compile(ctx, ane.Source{File: "sum.mil", Text: []byte(sum)})
	if err != nil {
		return map[string]string{"compile": err.Error()}
	}
	if err := m.Load(ctx); err != nil {
		return map[string]string{"load": err.Error()}
	}
	found := map[string]string{}
	run := func(name string, r *ane.Request, err error) {
		if err == nil {
			_, err = m.Evaluate(ctx, r)
			err = errors.Join(err, r.Close())
		}
		found[name] = message(err)
	}
	const least = 48 << 10
	for name, sizes := range map[string][3]int{
		"equal":     {least, least, least},
		"one short": {least, least - unimem.PageSize, least}, "output short": {least, least, least - unimem.PageSize},
		"unequal": {2 * least, least, least}, "sides differ": {least, least, 2 * least},
	} {
		named, blocks := map[string]*ane.Tensor{}, []*unimem.Block(nil)
		for i, l := range append(m.Inputs(), m.Outputs()...) {
			b, err := unimem.Open(sizes[i], f.Surfaces())
			if err != nil {
				return map[string]string{name: err.Error()}
			}
			blocks = append(blocks, b)
			named[l.Name], err = ane.OnBlock(b, l)
			if err != nil {
				return map[string]string{name: err.Error()}
			}
		}
		r, err := m.Bind(map[string]*ane.Tensor{"a": named["a"], "b": named["b"]},
			map[string]*ane.Tensor{"y": named["y"]})
		run(name, r, err)
		found[name+" closed"] = message(unimem.CloseAll(blocks...))
	}
	r, err := m.NewRequest(ctx)
	if err == nil {
		defer func() { _ = r.Close() }()
	}
	run("NewRequest", r, err)
	if err := errors.Join(m.Close(ctx), d.Close()); err != nil {
		found["close"] = err.Error()
	}
	return found
}

// TestStrictSurfaces: on a machine that refuses small and unequal surfaces the engine opens and
// requests of its own run; a caller's surfaces stay as they are, and are refused by name.
func TestStrictSurfaces(t *testing.T) {
	refused := map[string]bool{"one short": true, "output short": true, "unequal": true}
	for _, strict := range []bool{false, true} {
		o := inChild(t, task{Options: standin.Options{StrictSurfaces: strict}, Surfaces: true})
		require.Empty(t, o.Start+o.Open)
		require.Empty(t, o.Left)
		require.Len(t, o.Surfaces, 11)
		for name, err := range o.Surfaces {
			if strict && refused[name] {
				require.Contains(t, err, "surface too short", name)
				require.Contains(t, err, "status 0x1d", name)
				continue
			}
			require.Empty(t, err, name)
		}
	}
}

// TestWishedSurfaces: the size that the engine wishes is that of the table of chips.
func TestWishedSurfaces(t *testing.T) {
	e := open(t)
	for _, c := range chip.All() {
		require.EqualValues(t, c.Spec().MinSurface.Value, e.Info().MinSurface)
	}
}
