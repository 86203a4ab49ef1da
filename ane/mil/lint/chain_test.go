package lint_test

import (
	"fmt"
	"strings"
)

// chain is a chain of n statements; call has %s for the operand.
func chain(n int, shape []int, call string) string {
	var b strings.Builder
	b.WriteString(weightOf("w", 64, shape[1], shape[1], 1, 1) + "\n")
	last := "x"
	for i := range n {
		name := fmt.Sprintf("v%d", i)
		fmt.Fprintf(&b, "%s %s = "+call+"[name = string(\"%s\")];\n", t16(shape...), name, last, name)
		last = name
	}
	return fn(t16(shape...)+" x", b.String(), last)
}

const chainConv = "conv(" + convArgs + ", weight = w, x = %s)"

// reluChain is a chain of n convolutions of 512 channels with a relu at the end.
func reluChain(n int) string {
	p := chain(n, []int{1, 512, 1, 64}, chainConv)
	last := fmt.Sprintf("v%d", n-1)
	return strings.Replace(p, "\n    } -> ("+last+")", fmt.Sprintf("%s y = relu(x = %s)[name = string(\"y\")];\n    "+
		"} -> (y)",
		t16(1, 512, 1, 64), last), 1)
}
