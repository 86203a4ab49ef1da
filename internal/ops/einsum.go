package ops

import (
	"strings"

	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/internal/near"
)

// Einsum is a product over four groups of axes. Batch is in both operands and the result, M in x and the result, N in y
// and the result. K is in no result: it is summed.
type Einsum struct{ Batch, M, N, K []Axis }

// Axis is an axis of an Einsum with its strides, in elements, in the operands and the
// result: 0 where it is absent or repeated.
type Axis struct{ Length, X, Y, Out int }

func inferEinsum(c *Call, x *Value) {
	values := c.List("values")
	c.refuseIf(len(values) != 2, "values", "give two tensors (x, y)", "%d tensors", len(values))
	y := values[1]
	c.refuseIf(x.DType != y.DType, "values", "convert one with cast", "%s and %s", x.DType, y.DType)
	xs, ys, outs := c.equation(x.Rank(), y.Rank())
	known := renamed(xs + "," + ys + "->" + outs)
	if known != renamed("nchw,nwhu->nchu") && known != renamed("chw,whr->chr") {
		c.note("only nchw,nwhu->nchu and chw,whr->chr are known to run on Apple's engine")
	}
	length := map[rune]int{}
	for i, letter := range xs {
		length[letter] = x.Shape[i]
	}
	for i, letter := range ys {
		n, both := length[letter]
		c.refuseIf(both && n != 1 && y.Shape[i] != 1 && n != y.Shape[i], "values", "make them equal or 1",
			"%c is %d in x%v and %d in y%v", letter, n, x.Shape, y.Shape[i], y.Shape)
		length[letter] = max(n, y.Shape[i])
	}
	shape := []int{}
	for _, letter := range outs {
		shape = append(shape, length[letter])
	}
	if !sensible(shape) {
		c.gives(nil, x.DType, shape) // reports it
		return
	}
	var e Einsum
	seen := ""
	for _, letter := range outs + xs + ys {
		if strings.ContainsRune(seen, letter) {
			continue
		}
		seen += string(letter)
		axis := Axis{length[letter], along(x.Shape, xs, letter), along(y.Shape, ys, letter), along(shape, outs, letter)}
		inX, inY := strings.ContainsRune(xs, letter), strings.ContainsRune(ys, letter)
		switch {
		case !strings.ContainsRune(outs, letter):
			e.K = append(e.K, axis)
		case inX && inY:
			e.Batch = append(e.Batch, axis)
		case inX:
			e.M = append(e.M, axis)
		default:
			e.N = append(e.N, axis)
		}
	}
	terms := 1
	for _, axis := range e.K {
		c.refuseIf(terms > MaxElements/axis.Length, "equation", "sum over fewer axes",
			"each sum has more than 2^31 terms")
		terms *= axis.Length
	}
	c.gives(e, x.DType, shape)
}

// along returns the stride of the axis called letter in a dense tensor, 0 if there is none or it has one element.
func along(shape []int, letters string, letter rune) int {
	i := strings.IndexRune(letters, letter)
	if i < 0 || shape[i] == 1 {
		return 0
	}
	return Volume(shape[i+1:])
}

// equation reads the letters of both operands and of the result.
func (c *Call) equation(rankX, rankY int) (x, y, out string) {
	const form, hint = "equation", `write equation = string("nchw,nwhu->nchu")`
	v := c.Value(form)
	c.refuseIf(v == nil || v.DType != mil.String || len(v.Text) != 1, form, hint, "not a string")
	text := strings.ReplaceAll(v.Text[0], " ", "")
	in, out, arrow := strings.Cut(text, "->")
	x, y, comma := strings.Cut(in, ",")
	c.refuseIf(!arrow || !comma, form, hint, "%q is not of the form x,y->result", near.Cut(text))
	for _, letters := range []string{x, y, out} {
		for i, letter := range letters {
			switch {
			case letter < 'A' || letter > 'z' || letter > 'Z' && letter < 'a':
				c.refuse(form, hint, "%q is not a letter", string(letter))
			case strings.ContainsRune(letters[i+1:], letter):
				c.refuse(form, "name every axis of a tensor differently", "%c is twice in %q", letter,
					near.Cut(letters))
			}
		}
	}
	c.refuseIf(len(x) != rankX || len(y) != rankY, form, "give one letter for each axis",
		"%q and %q for tensors of rank %d and %d", near.Cut(x), near.Cut(y), rankX, rankY)
	for _, letter := range out {
		c.refuseIf(!strings.ContainsRune(x+y, letter), form, "take letters of the operands",
			"%c of the result is in neither operand", letter)
	}
	return x, y, out
}

// renamed calls each letter of an equation by the place where it is first.
func renamed(equation string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune(",->", r) {
			return r
		}
		return 'a' + rune(strings.IndexRune(equation, r))
	}, equation)
}
