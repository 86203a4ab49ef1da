//go:build !macrules

package hostile

import (
	"fmt"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/engine/broker/wire"
)

// addition adds two vectors of 32. Its text differs for each note, and so does its key.
func addition(note any) []byte {
	return fmt.Appendf(nil, `program(1.3)
// %v
{
    func main<ios18>(tensor<fp16, [1, 1, 1, 32]> a, tensor<fp16, [1, 1, 1, 32]> b) {
        tensor<fp16, [1, 1, 1, 32]> c = add(x = a, y = b)[name = string("c")];
    } -> (c);
}
`, note)
}

// outer makes squares out of two vectors of some KiB, one after another: intermediates of gigabytes.
func outer(side, steps int) []byte {
	text := fmt.Appendf(nil, `program(1.3)
{
    func main<ios18>(tensor<fp16, [1, 1, %d, 1]> a, tensor<fp16, [1, 1, 1, %d]> b) {
        tensor<fp16, [1, 1, %d, %d]> s0 = add(x = a, y = b)[name = string("s0")];
`, side, side, side, side)
	for i := range steps {
		text = fmt.Appendf(text, `        tensor<fp16, [1, 1, %d, %d]> s%d = add(x = s%d, y = b)[name = string("s%d")];
`, side, side, i+1, i, i+1)
	}
	return fmt.Appendf(text, `        tensor<int32, [2]> axes = const()[name = string("axes"),
            val = tensor<int32, [2]>([2, 3])];
        bool keep = const()[name = string("keep"), val = bool(true)];
        tensor<fp16, [1, 1, 1, 1]> c = reduce_sum(x = s%d, axes = axes, keep_dims = keep)[name = string("c")];
    } -> (c);
}
`, steps)
}

// folded computes constants of side^2 elements while it is compiled, one after another.
func folded(side, steps int) []byte {
	text := fmt.Appendf(nil, "program(1.3)\n{\nfunc main<ios18>(tensor<fp16, [1]> x) {\n"+
		"tensor<fp16, [%d, %d]> a0 = fill(shape = tensor<int32, [2]>([%d, %d]), value = fp16(1.5));\n",
		side, side, side, side)
	for i := range steps {
		text = fmt.Appendf(text, "tensor<fp16, [%d, %d]> a%d = pow(x = a%d, y = a%d);\n", side, side, i+1, i, i)
	}
	return fmt.Appendf(text, "tensor<fp16, [%d, %d]> y = mul(x = x, y = a%d);\n} -> (y);\n}\n", side, side, steps)
}

// statements is a text of n statements whose results no output needs.
func statements(n int) []byte {
	text := []byte("program(1.3)\n{\nfunc main<ios18>(tensor<fp16, [1]> x) {\n")
	for i := range n {
		text = fmt.Appendf(text, "tensor<fp16, [1]> a%d = add(x = x, y = x);\n", i)
	}
	return append(text, "tensor<fp16, [1]> y = relu(x = x);\n} -> (y);\n}\n"...)
}

// compile sends a program's text, with further descriptors after it, and waits.
func (r *raw) compile(text []byte, fds ...int) (c wire.Compiled, err error) {
	fd := memfd(int64(len(text)), frozen, text)
	defer closeAll(fd)
	return c, r.ask(wire.KindCompile, &wire.Compile{File: "hostile", TextSize: uint64(len(text))}, &c,
		append([]int{fd}, fds...)...)
}

// ready is a program that is loaded, and a request of it.
type ready struct {
	wire.Compiled
	request  uint32
	tokens   uint32
	surfaces []int // descriptors
}

// ready loads a program and binds it to new surfaces.
func (r *raw) ready(c wire.Compiled) (*ready, error) {
	x := &ready{Compiled: c}
	var loaded wire.Loaded
	if err := r.ask(wire.KindLoad, &wire.Load{Program: c.Program, QoS: 21}, &loaded); err != nil {
		return nil, err
	}
	bind := wire.Bind{Program: c.Program}
	for i, list := range [][]ane.Layout{c.In, c.Out} {
		for _, l := range list {
			x.tokens++
			size := int64(l.Bytes()+1<<14-1) &^ (1<<14 - 1)
			fd := memfd(size, surface, nil)
			x.surfaces = append(x.surfaces, fd)
			var s wire.Empty
			if err := r.ask(wire.KindSurface, &wire.Surface{Size: uint64(size), Token: x.tokens}, &s, fd); err != nil {
				return nil, err
			}
			if port := (wire.Port{Surface: x.tokens}); i == 0 {
				bind.In = append(bind.In, port)
			} else {
				bind.Out = append(bind.Out, port)
			}
		}
	}
	var bound wire.Bound
	err := r.ask(wire.KindBind, &bind, &bound)
	x.request = bound.Request
	return x, err
}

// adds compiles, loads and binds an addition.
func (r *raw) adds(note any) (*ready, error) {
	c, err := r.compile(addition(note))
	if err != nil {
		return nil, err
	}
	return r.ready(c)
}
