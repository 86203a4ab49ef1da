package ops

import (
	"fmt"
	"math"
	"slices"

	"github.com/anekit/anekit/ane/mil"
)

// recurrents run a cell over a sequence x [S, B, I]. Attrs is a Recurrent.
var recurrents = []Def{
	{Name: "lstm", support: nowhere(onHost), Many: true,
		Params: []Param{tensor("x"), tensor("initial_h"), tensor("initial_c"),
			tensor("weight_ih"), tensor("weight_hh"), perhaps("bias"), perhaps("peephole"), perhaps("weight_ih_back"),
			perhaps("weight_hh_back"), perhaps("bias_back"), perhaps("peephole_back"), option("direction"),
			option("output_sequence"), option("recurrent_activation"), option("cell_activation"), option("activation"),
			option("clip")}, infer: inferLSTM},
	{Name: "gru", support: nowhere(onHost), Many: true,
		Params: []Param{tensor("x"), tensor("initial_h"), tensor("weight_ih"),
			tensor("weight_hh"), perhaps("bias"), perhaps("input_bias"), option("direction"), option("output_sequence"),
			option("recurrent_activation"), option("activation"), option("reset_after")}, infer: func(c *Call) {
			a := c.recurrent(3)
			a.Gate, a.ResetAfter = c.activation("recurrent_activation", "sigmoid"), c.boolean("reset_after", false)
			c.parameter("input_bias", 3*a.H)
			c.sequence(a, 1)
		}},
	{Name: "rnn", support: nowhere(onHost), Many: true,
		Params: []Param{tensor("x"), tensor("initial_h"), tensor("weight_ih"),
			tensor("weight_hh"), perhaps("bias"), option("direction"), option("output_sequence"), option("activation")},
		infer: func(c *Call) { c.sequence(c.recurrent(1), 1) }},
}

// Recurrent holds the settings of a recurrent operator. Weights have the rows of their
// gates one after another: of lstm input, forget, output, cell; of gru reset, output, update.
type Recurrent struct {
	S, B, I, H        int
	Reverse           bool // from the last element of x to the first; the result has the order of the steps
	Both              bool // lstm: a second cell in reverse; its results stand beside those of the first
	Sequence          bool // the first result has every step, not the last alone
	Gate, Cell, Final string
	ResetAfter        bool    // gru: the reset gate follows the product with the weights
	Clip              float64 // lstm: the largest magnitude of the memory
}

// activation returns an argument that names a function.
func (c *Call) activation(name, def string) string {
	return c.word(name, def, "sigmoid", "tanh", "relu", "linear", "scaled_tanh", "sigmoid_hard", "hard_sigmoid")
}

// recurrent checks the arguments that all recurrent operators have. The weights have gates
// times H rows.
func (c *Call) recurrent(gates int) *Recurrent {
	a := &Recurrent{Sequence: c.boolean("output_sequence", false), Final: c.activation("activation", "tanh"),
		Clip: math.Inf(1)}
	directions := []string{"forward", "reverse"}
	if c.def.Name == "lstm" {
		directions = append(directions, "bidirectional")
	}
	direction := c.word("direction", "forward", directions...)
	a.Reverse, a.Both = direction == "reverse", direction == "bidirectional"
	x, w := c.tensor("x"), c.tensor("weight_hh")
	c.needs("x", floats...)
	c.fp32(x.DType)
	c.cpu()
	if x.Rank() != 3 {
		c.fail("x", "give it as [sequence, batch, inputs]", "shape %v", x.Shape)
	}
	if w.Rank() != 2 || w.Shape[0] != gates*w.Shape[1] {
		c.fail("weight_hh", fmt.Sprintf("give it as [%d*H, H]", gates), "shape %v", w.Shape)
	}
	if c.failed() {
		return a
	}
	a.S, a.B, a.I, a.H = x.Shape[0], x.Shape[1], x.Shape[2], w.Shape[1]
	c.parameter("initial_h", a.B, a.cells()*a.H)
	c.parameter("weight_ih", gates*a.H, a.I)
	c.parameter("weight_hh", gates*a.H, a.H)
	c.parameter("bias", gates*a.H)
	return a
}

// cells is the number of cells.
func (a *Recurrent) cells() int {
	if a.Both {
		return 2
	}
	return 1
}

// parameter checks an operand of the type of x, if it is given.
func (c *Call) parameter(name string, shape ...int) {
	v := c.tensor(name)
	if v == nil {
		return
	}
	c.sameType("x", name)
	if !slices.Equal(v.Shape, shape) && Volume(shape) > 0 {
		c.fail(name, fmt.Sprintf("give it the shape %v", shape), "shape %v", v.Shape)
	}
}

// sequence sets the results: the states of every step or the last, and as many states after
// the last step as the cell has.
func (c *Call) sequence(a *Recurrent, states int) {
	if c.failed() {
		return
	}
	steps, width := 1, a.cells()*a.H
	if a.Sequence {
		steps = a.S
	}
	d := c.tensor("x").DType
	types, shapes := []mil.DType{d}, [][]int{{steps, a.B, width}}
	for range states {
		types, shapes = append(types, d), append(shapes, []int{a.B, width})
	}
	c.attrs = a
	c.results(types, shapes)
}

func inferLSTM(c *Call) {
	a := c.recurrent(4)
	a.Gate, a.Cell = c.activation("recurrent_activation", "sigmoid"), c.activation("cell_activation", "tanh")
	if c.tensor("clip") != nil {
		if a.Clip = c.number("clip", 0); !(a.Clip > 0) {
			c.fail("clip", "give a number above 0, or leave it out", "%g", a.Clip)
		}
	}
	if c.failed() {
		return
	}
	c.parameter("initial_c", a.B, a.cells()*a.H)
	c.parameter("peephole", 3*a.H)
	for _, name := range []string{"weight_ih_back", "weight_hh_back"} {
		if a.Both && c.tensor(name) == nil {
			c.fail("", "give the weights of the second cell", "argument %s is missing for direction bidirectional",
				name)
		}
	}
	c.parameter("weight_ih_back", 4*a.H, a.I)
	c.parameter("weight_hh_back", 4*a.H, a.H)
	c.parameter("bias_back", 4*a.H)
	c.parameter("peephole_back", 3*a.H)
	c.sequence(a, 2)
}
