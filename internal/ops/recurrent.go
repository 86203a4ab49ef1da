package ops

import (
	"fmt"
	"math"
)

// recurrents run a cell over a sequence x [S, B, I]. Attrs is a Recurrent.
var recurrents = []Def{
	recurrent("lstm", inferLSTM, []string{"initial_c"}, []string{"peephole", "weight_ih_back", "weight_hh_back",
		"bias_back", "peephole_back"}, squash("recurrent_activation", "sigmoid"), squash("cell_activation", "tanh"),
		squash("activation", "tanh"), number("clip").optional()),
	recurrent("gru", func(c *Call, x *Value) {
		a := c.recurrent(3)
		a.Gate, a.ResetAfter = c.word("recurrent_activation"), c.boolean("reset_after")
		c.parameter("input_bias", 3*a.H)
		c.sequence(a, 1)
	}, nil, []string{"input_bias"}, squash("recurrent_activation", "sigmoid"), squash("activation", "tanh"),
		boolean("reset_after").or(false)),
	recurrent("rnn", func(c *Call, x *Value) { c.sequence(c.recurrent(1), 1) }, nil, nil, squash("activation", "tanh")),
}

func recurrent(name string, infer func(*Call, *Value), states, weights []string, settings ...Param) Def {
	params := []Param{tensor("x", floats...).ranks(3, 3, "give it as [sequence, batch, inputs]", "shape %v"),
		tensor("initial_h")}
	for _, n := range states {
		params = append(params, tensor(n))
	}
	params = append(params, tensor("weight_ih"), tensor("weight_hh"), tensor("bias").optional())
	for _, n := range weights {
		params = append(params, tensor(n).optional())
	}
	directions := []string{"forward", "reverse"}
	if name == "lstm" {
		directions = append(directions, "bidirectional")
	}
	params = append(params, word("direction", directions...).or("forward"), boolean("output_sequence").or(false))
	return Def{Name: name, support: nowhere(onHost), Params: append(params, settings...), infer: infer}
}

// squash is an argument that names a function.
func squash(name, def string) Param {
	return word(name, "sigmoid", "tanh", "relu", "linear", "scaled_tanh", "sigmoid_hard", "hard_sigmoid").or(def)
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

// recurrent checks the arguments that all recurrent operators have. The weights have gates times H rows.
func (c *Call) recurrent(gates int) *Recurrent {
	a := &Recurrent{Sequence: c.boolean("output_sequence"), Final: c.word("activation"),
		Clip: math.Inf(1)}
	direction := c.word("direction")
	a.Reverse, a.Both = direction == "reverse", direction == "bidirectional"
	x, w := c.tensor("x"), c.tensor("weight_hh")
	c.refuseIf(w.Rank() != 2 || w.Shape[0] != gates*w.Shape[1], "weight_hh", fmt.Sprintf("give it as [%d*H, H]", gates),
		"shape %v", w.Shape)
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

// parameter checks the shape of an operand, if it is given.
func (c *Call) parameter(name string, shape ...int) {
	c.shaped(name, shape, fmt.Sprintf("give it the shape %v", shape), "shape %v")
}

// sequence sets the results: the states of every step or the last, and as many states after
// the last step as the cell has.
func (c *Call) sequence(a *Recurrent, states int) {
	steps, width := 1, a.cells()*a.H
	if a.Sequence {
		steps = a.S
	}
	d := c.tensor("x").DType
	c.gives(a, d, []int{steps, a.B, width})
	for range states {
		c.gives(a, d, []int{a.B, width})
	}
}

func inferLSTM(c *Call, x *Value) {
	a := c.recurrent(4)
	a.Gate, a.Cell = c.word("recurrent_activation"), c.word("cell_activation")
	if c.tensor("clip") != nil {
		if a.Clip = c.number("clip"); !(a.Clip > 0) {
			c.refuse("clip", "give a number above 0, or leave it out", "%g", a.Clip)
		}
	}
	c.parameter("initial_c", a.B, a.cells()*a.H)
	c.parameter("peephole", 3*a.H)
	for _, name := range []string{"weight_ih_back", "weight_hh_back"} {
		c.refuseIf(a.Both && c.tensor(name) == nil, "", "give the weights of the second cell",
			"argument %s is missing for direction bidirectional", name)
	}
	c.parameter("weight_ih_back", 4*a.H, a.I)
	c.parameter("weight_hh_back", 4*a.H, a.H)
	c.parameter("bias_back", 4*a.H)
	c.parameter("peephole_back", 3*a.H)
	c.sequence(a, 2)
}
