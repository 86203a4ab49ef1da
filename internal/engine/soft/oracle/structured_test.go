package oracle_test

import (
	"slices"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane/mil"
)

// structured has the operators of blocks, lists and labels.
var structured map[string]func(c call, s *scope, op *mil.Op) []known

func init() {
	structured = map[string]func(c call, s *scope, op *mil.Op) []known{
		"cond": func(c call, s *scope, op *mil.Op) []known {
			if c.flag("pred") {
				return c.block(s, op.Blocks[0], nil)
			}
			return c.block(s, op.Blocks[1], nil)
		},
		"while_loop": func(c call, s *scope, op *mil.Op) []known {
			vars := c.args["loop_vars"]
			for rounds := 0; c.block(s, op.Blocks[0], vars)[0].v[0] != 0; rounds++ {
				require.Less(c, rounds, 10_000)
				vars = c.block(s, op.Blocks[1], vars)
			}
			return vars
		},
		"classify": func(c call, _ *scope, _ *mil.Op) []known {
			x := c.x("probabilities")
			best := slices.Index(x.v, slices.Max(x.v))
			return []known{{nd: numbers(best).as([]int{})}, {nd: x.as([]int{len(x.v)})}}
		},
		"make_list": func(c call, _ *scope, _ *mil.Op) []known {
			return []known{{list: make([]known, max(c.int("init_length", 1), 1))}}
		},
		"list_read": func(c call, _ *scope, _ *mil.Op) []known {
			return c.args["ls"][0].list[c.int("index", 0):][:1]
		},
		"list_write": func(c call, _ *scope, _ *mil.Op) []known {
			l := slices.Clone(c.args["ls"][0].list)
			for len(l) <= c.int("index", 0) {
				l = append(l, known{})
			}
			l[c.int("index", 0)] = c.args["value"][0]
			return []known{{list: l}}
		},
		"list_gather": func(c call, _ *scope, _ *mil.Op) []known {
			var parts []nd
			for _, i := range c.ints("indices") {
				x := c.args["ls"][0].list[i].nd
				parts = append(parts, x.as(slices.Insert(slices.Clone(x.shape), 0, 1)))
			}
			return []known{{nd: join(parts, 0)}}
		},
		"list_scatter": func(c call, _ *scope, _ *mil.Op) []known {
			l, x := slices.Clone(c.args["ls"][0].list), c.x("value")
			for n, i := range c.ints("indices") {
				for len(l) <= i {
					l = append(l, known{})
				}
				l[i] = known{nd: x.cut(0, n, 1, 1).as(x.shape[1:])}
			}
			return []known{{list: l}}
		},
		"list_length": func(c call, _ *scope, _ *mil.Op) []known {
			return []known{{nd: numbers(len(c.args["ls"][0].list)).as([]int{})}}
		},
	}
}

// block evaluates a block with values for its parameters.
func (c call) block(outer *scope, b *mil.Block, params []known) (all []known) {
	s := &scope{outer: outer, names: map[string]known{}}
	require.Len(c, params, len(b.Params))
	for i, p := range b.Params {
		s.names[p.Name] = params[i]
	}
	c.body(s, b.Body)
	for _, r := range b.Results {
		v, ok := s.find(r.Name)
		require.True(c, ok, "result %s of a block", r.Name)
		all = append(all, v)
	}
	return all
}
