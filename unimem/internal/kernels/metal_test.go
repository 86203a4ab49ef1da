package kernels_test

import (
	"encoding/binary"
	"os/exec"
	"regexp"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/unimem/internal/kernels"
)

// madeBy is the version of Debian's spirv-cross that made the texts.
const madeBy = "2021.01.15+1.3.239.0-1"

// The embedded text is what spirv-cross makes of the embedded code.
func TestMetalIsMadeFromTheCode(t *testing.T) {
	tool(t, "spirv-cross", "spirv-cross")
	tool(t, "dpkg-query", "dpkg")
	by, err := exec.Command("dpkg-query", "-W", "-f", "${Version}", "spirv-cross").Output()
	if err != nil || string(by) != madeBy {
		t.Skipf("the texts were made by Debian's spirv-cross %s, this one is %q", madeBy, by)
	}
	for _, k := range all {
		m, ok := k.InMetal()
		require.True(t, ok, k.Name)
		_, code := write(t, k)
		made := run(t, "spirv-cross", "--msl", "--msl-version", "20300", "--rename-entry-point", "main", k.Name, "comp",
			code)
		require.Equal(t, string(made), m.Text, "%s.metal is not of %s.spv: make it again", k.Name, k.Name)
	}
	_, ok := kernels.Kernel{Name: "other"}.InMetal()
	require.False(t, ok)
}

var argument = regexp.MustCompile(`& v?_(\d+) \[\[buffer\((\d+)\)\]\]`)

// The numbers of the arguments belong to the bindings of the code: spirv-cross names an argument after its variable.
func TestMetalArguments(t *testing.T) {
	for _, k := range all {
		m, _ := k.InMetal()
		require.Contains(t, m.Text, "kernel void "+k.Name+"(")
		numbers := map[uint32]int{} // of the argument by variable
		for _, a := range argument.FindAllStringSubmatch(m.Text, -1) {
			variable, err := strconv.ParseUint(a[1], 10, 32)
			require.NoError(t, err)
			number, err := strconv.Atoi(a[2])
			require.NoError(t, err)
			numbers[uint32(variable)] = number
		}
		require.Len(t, numbers, k.Buffers+1, "one for each buffer, one for the push constants")
		bound := map[int]int{}
		for variable, binding := range bindings(k.Code) {
			number, ok := numbers[variable]
			require.True(t, ok, "%s: variable %d", k.Name, variable)
			bound[binding] = number
			delete(numbers, variable)
		}
		require.Len(t, bound, k.Buffers)
		for binding, number := range m.Bindings {
			require.Equal(t, bound[binding], number, "%s: binding %d", k.Name, binding)
		}
		require.Len(t, numbers, 1, "what has no binding are the push constants")
		for _, number := range numbers {
			require.Equal(t, number, m.Push, k.Name)
		}
	}
}

// bindings reads the bindings of SPIR-V, by variable.
func bindings(code []byte) map[uint32]int {
	const header, opDecorate, decorationBinding = 5, 71, 33
	found := map[uint32]int{}
	word := func(i int) uint32 { return binary.LittleEndian.Uint32(code[4*i:]) }
	for i := header; i < len(code)/4; i += int(word(i) >> 16) {
		if word(i)&0xffff == opDecorate && word(i+2) == decorationBinding {
			found[word(i+1)] = int(word(i + 3))
		}
	}
	return found
}
