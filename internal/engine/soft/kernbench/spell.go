package kernbench

import (
	"fmt"
	"regexp"
	"strings"
	"sync"
)

// text returns a program of some statements.
func text(inputs, body string) string {
	return "program(1.3)\n{ func main<ios18>(" + spelled(inputs) + ") { " + spelled(body) + " } -> (y); }"
}

// program is a program whose statements lack the type of the result.
func program(inputs, result, body string) string {
	return text(inputs, lastName().ReplaceAllString(body, "${1}"+result+" y ="))
}

var (
	lastName   = pattern(`(^|; |second, )y =`)
	shortType  = pattern(`\b([hsib])\[([\d,]+)\]`)
	shortList  = pattern(`\{([-\d,]+)\}`)
	shortWords = pattern(`'([^']+)'`)
	dense      = pattern(`h\[(\d+),(\d+)\] (\w+) = dense\[(\d+)\]\((\w+)\);`)
)

// pattern is an expression that is compiled when it is needed.
func pattern(text string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })
}

// spelled writes dense[5](x) as linear of five inputs with constant weights, h[2,3] as a type, {1,2} as integers, and
// 'same' as a string of MIL.
func spelled(s string) string {
	s = dense().ReplaceAllString(s, "h[$2,$4] ${3}_w = fill(shape = {$2,$4}, value = fp16(0.02)); "+
		"h[$2] ${3}_b = fill(shape = {$2}, value = fp16(0.1)); "+
		"h[$1,$2] $3 = linear(x = $5, weight = ${3}_w, bias = ${3}_b);")
	s = shortList().ReplaceAllStringFunc(s, func(l string) string {
		return fmt.Sprintf("tensor<int32, [%d]>([%s])", strings.Count(l, ",")+1, l[1:len(l)-1])
	})
	types := map[string]string{"h": "fp16", "s": "fp32", "i": "int32", "b": "bool"}
	s = shortType().ReplaceAllStringFunc(s, func(t string) string {
		m := shortType().FindStringSubmatch(t)
		return "tensor<" + types[m[1]] + ", [" + m[2] + "]>"
	})
	return shortWords().ReplaceAllString(s, `string("$1")`)
}
