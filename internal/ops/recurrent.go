package ops

import (
	"fmt"
	"math"
)

// recurrents run a cell over a sequence x [S, B, I]. Attrs is a Recurrent.
var recurrents = []*Def{
	recurrent("lstm", 4, []string{"initial_c"}, []string{"peephole", "weight_ih_back", "weight_hh_back", "bias_back",
		"peephole_back"}, squash("recurrent_activation", "sigmoid"), squash("cell_activation", "tanh"),
		squash("activation", "tanh"), number("clip").optional()),
	recurrent("gru", 3, nil, []string{"input_bias"}, squash("recurrent_activation", "sigmoid"),
		squash("activation", "tanh"), boolean("reset_after").or(false)),
	recurrent("rnn", 1, nil, nil, squash("activation", "tanh")),
}

// recurrent is an operator whose weights have gates times H rows; states are those beside initial_h.
func recurrent(name string, gates int, states, weights []string, settings ...*Param) *Def {
	params := []*Param{tensor("x", floats...).ranks(3, 3, "give it as [sequence, batch, inputs]", "shape %v"),
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
	return &Def{Name: name, support: nowhere(onHost), Params: append(params, settings...),
		infer: func(c *Call, x *Value) { inferRecurrent(c, x, gates, 1+len(states)) }}
}

// squash is an argument that names a function.
func squash(name, def string) *Param {
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

// inferRecurrent is the rule of all recurrent operators: an argument that one does not have is absent. The results are
// the states of every step or the last, and as many states after the last step as the cell has.
func inferRecurrent(c *Call, x *Value, gates, states int) {
	w, direction := c.Value("weight_hh"), c.word("direction")
	c.refuseIf(w.Rank() != 2 || w.Shape[0] != gates*w.Shape[1], "weight_hh", fmt.Sprintf("give it as [%d*H, H]", gates),
		"shape %v", w.Shape)
	a := &Recurrent{S: x.Shape[0], B: x.Shape[1], I: x.Shape[2], H: w.Shape[1], Reverse: direction == "reverse",
		Both: direction == "bidirectional", Sequence: c.boolean("output_sequence"), Gate: c.word("recurrent_activation"),
		Cell: c.word("cell_activation"), Final: c.word("activation"), ResetAfter: c.boolean("reset_after"),
		Clip: math.Inf(1)}
	if c.Value("clip") != nil {
		a.Clip = c.number("clip")
		c.refuseIf(!(a.Clip > 0), "clip", "give a number above 0, or leave it out", "%g", a.Clip)
	}
	rows, width, steps := gates*a.H, a.H, 1
	if a.Both {
		width *= 2
	}
	if a.Sequence {
		steps = a.S
	}
	c.parameter("initial_h", a.B, width)
	c.parameter("initial_c", a.B, width)
	c.parameter("input_bias", rows)
	for _, cell := range []string{"", "_back"} {
		for _, name := range []string{"weight_ih", "weight_hh"} {
			c.refuseIf(a.Both && c.Value(name+cell) == nil, "", "give the weights of the second cell",
				"argument %s is missing for direction bidirectional", name+cell)
		}
		c.parameter("weight_ih"+cell, rows, a.I)
		c.parameter("weight_hh"+cell, rows, a.H)
		c.parameter("bias"+cell, rows)
		c.parameter("peephole"+cell, 3*a.H)
	}
	c.gives(a, x.DType, []int{steps, a.B, width})
	for range states {
		c.gives(a, x.DType, []int{a.B, width})
	}
}

// parameter checks the shape of an operand, if it is given.
func (c *Call) parameter(name string, shape ...int) {
	c.shaped(name, shape, fmt.Sprintf("give it the shape %v", shape), "shape %v")
}
