package ops

import (
	"slices"

	"github.com/anekit/anekit/ane/mil"
)

// controls run blocks of statements. Node.Blocks has the blocks, and Attrs is nil. A node's In has the operands alone:
// values that a block takes from around it are operands of the statements in it.
var controls = []*Def{
	{Name: "cond", support: nowhere("compute both branches and choose with select").kin(nested), infer: inferCond,
		Params: []*Param{tensor("pred", truths...)}},
	{Name: "while_loop", support: nowhere("write the iterations one after another").kin(nested), infer: inferWhile,
		Params: []*Param{tensor("loop_vars").variadic().loosely().any().deep()}},
}

const nested = "its blocks are no part of a program for the engine"

// Body is a block of a statement, resolved.
type Body struct {
	Params  []*Value // those of both blocks of a while_loop are the same values
	Nodes   []*Node
	Results []*Value
}

// block resolves a block of n whose parameters have values. It sees the names defined above, and its own end with it.
// It returns nil for a block with a fault.
func (a *analysis) block(n *Node, b *mil.Block, params []*Value) *Body {
	hidden, nodes, within, faults := a.hidden, a.graph.Nodes, a.within, len(a.faults)
	a.hidden, a.graph.Nodes, a.within = map[string]*Value{}, nil, n
	body := &Body{Params: params}
	for i, p := range b.Params {
		var v *Value
		if i < len(params) {
			if v = params[i]; !v.has(p.Type) {
				a.fail(p.Pos, "declare it as "+v.Type().String(), "%s: Expected %s; got %s", p.Name, v.Type(), p.Type)
			}
		}
		a.define(p.Name, v, p)
	}
	for _, op := range b.Body {
		if a.ctx.Err() != nil || len(a.faults) > mil.MaxFaults && !a.survey {
			break
		}
		a.statement(op)
	}
	for _, r := range b.Results {
		v := a.values[r.Name]
		if v == nil {
			continue // the definition is faulty or, as Validate reported, missing
		}
		if v.State {
			a.fail(r.Pos, "read it with read_state and return the result", "%s is a state", r.Name)
		}
		v.Uses, body.Results = append(v.Uses, n), append(body.Results, v)
	}
	body.Nodes = a.graph.Nodes
	for name, v := range a.hidden {
		if v != nil || !a.survey { // a Survey keeps the values by their names
			a.values[name] = v
		}
	}
	a.hidden, a.graph.Nodes, a.within = hidden, nodes, within
	if len(a.faults) > faults && !a.survey || len(body.Results) != len(b.Results) {
		return nil
	}
	return body
}

// body resolves block i of the call, with as many parameters and results as are given, or ends the rule.
func (c *Call) body(i int, params []*Value, results int) *Body {
	b := c.Op.Blocks[i]
	c.refuseIf(len(b.Params) != len(params), "", "give the block a parameter for each loop variable",
		"block %d has %d parameters for %d", i+1, len(b.Params), len(params))
	c.refuseIf(results >= 0 && len(b.Results) != results, "", "return as many values from each block",
		"block %d returns %d values, not %d", i+1, len(b.Results), results)
	body := c.a.resolve(c.Node, b, params)
	if body == nil {
		c.bad = true
		panic(ended{})
	}
	c.Blocks = append(c.Blocks, body)
	return body
}

// two refuses a call that has not two blocks.
func (c *Call) two(form string) {
	c.refuseIf(len(c.Op.Blocks) != 2, "", form, "%d blocks, 2 expected", len(c.Op.Blocks))
}

// one refuses what is not a single truth value.
func (c *Call) one(name string, v *Value) {
	c.refuseIf(v.DType != mil.Bool || v.Elements() != 1, name, "give one truth value", "%s is no single bool", v.Type())
}

func inferCond(c *Call, pred *Value) {
	c.two("give a block for true and one for false")
	c.one("pred", pred)
	yes := c.body(0, nil, -1)
	no := c.body(1, nil, len(yes.Results))
	for i, v := range yes.Results {
		w := no.Results[i]
		v.agree(w.Shape)
		w.agree(v.Shape)
		c.sameShape(c.Op.Blocks[1].Results[i], v, w, "both branches give values of one type and shape")
		c.returns(v)
	}
}

func inferWhile(c *Call, _ *Value) {
	c.two("give a block for the condition and one for the body")
	var vars []*Value
	for i, v := range c.List("loop_vars") {
		c.refuseIf(!slices.Contains(storable, v.DType), "loop_vars", "pass tensors of numbers",
			"%v cannot change from one iteration to the next", v.Type())
		loop := &Value{Name: v.Name, Pos: v.Pos, DType: v.DType, Shape: slices.Clone(v.Shape), listed: v.listed, from: v}
		if b := c.Op.Blocks[1]; i < len(b.Params) {
			loop.Name, loop.Pos = b.Params[i].Name, b.Params[i].At
		}
		vars = append(vars, loop)
	}
	test := c.body(0, vars, 1)
	c.one("", test.Results[0])
	body := c.body(1, vars, len(vars))
	for i, v := range vars {
		r := body.Results[i]
		v.agree(r.Shape)
		r.agree(v.Shape)
		c.sameShape(c.Op.Blocks[1].Results[i], v, r, "a loop variable has one type and shape in every iteration: engines "+
			"need static shapes; pad it to the largest shape")
	}
	for _, v := range vars {
		c.returns(v)
	}
}

// sameShape refuses a result of a block that is not of the type of v.
func (c *Call) sameShape(at mil.Ref, v, w *Value, hint string) {
	if v.DType != w.DType || !slices.Equal(v.Shape, w.Shape) {
		c.a.fail(at.Pos, hint, "%s: %s: %s where %s is expected", c.Op.Kind, at.Name, w.Type(), v.Type())
		panic(ended{})
	}
}

// returns adds a result that is like v.
func (c *Call) returns(v *Value) {
	c.refuseIf(v.DType == mil.String || v.Written != nil, "", "return tensors", "a block returns %v", v.Type())
	c.refuseIf(slices.Contains(v.Shape, openAxis), "", "give elem_shape whole numbers",
		"the shape of an element of %s does not follow from a write", v.Name)
	c.gives(nil, v.DType, v.Shape)
	c.Out[len(c.Out)-1].listed = v.listed
}
