package mil

import (
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/internal/effort"
)

// bytesPerByte is the bound that the package documentation states: what Parse allocates for
// each byte of a text, in all, garbage included.
const bytesPerByte = 160

// dense are texts that make the most of a tree out of the fewest bytes: a beginning, a part
// that repeats, and an end.
var dense = map[string][3]string{
	"numbers":     {"program(1.3){func f<o>(fp16 x){k(a=tuple<int1>([1", ",1", "]));}->(x);}"},
	"lists":       {"program(1.3){func f<o>(fp16 x){k(a=tuple<int1>([[]", ",[]", "]));}->(x);}"},
	"values":      {"program(1.3){func f<o>(fp16 x){k(a=tuple<int1>([int1(1)", ",int1(1)", "]));}->(x);}"},
	"dicts":       {"program(1.3){func f<o>(fp16 x){k(a=tuple<int1>({{1,1}", ",{1,1}", "}));}->(x);}"},
	"operands":    {"program(1.3){func f<o>(fp16 x){k(a=(x", ",x", "));}->(x);}"},
	"consts":      {"program(1.3){func f<o>(fp16 x){k(a=(x", ",const()", "));}->(x);}"},
	"bare":        {"program(1.3){func f<o>(fp16 x){k(a=(1", ",1", "));}->(x);}"},
	"statements":  {"program(1.3){func f<o>(fp16 x){", "k();", "}->(x);}"},
	"arguments":   {"program(1.3){func f<o>(fp16 x){k(a=x", ",a=x", ");}->(x);}"},
	"dims":        {"program(1.3){func f<o>(fp16 x){tensor<int1,[1", ",1", "]>y=k();}->(x);}"},
	"types":       {"program(1.3){func f<o>(fp16 x){tuple<int1", ",int1", ">y=k();}->(x);}"},
	"results":     {"program(1.3){func f<o>(fp16 x){fp16 y", ",fp16 y", "=k();}->(x);}"},
	"outputs":     {"program(1.3){func f<o>(fp16 x){}->(x", ",x", ");}"},
	"functions":   {"program(1.3){", "func f<o>(){}->();", "}"},
	"faults":      {"program(1.3){func f<o>(fp16 x){", "$;", "}->(x);}"},
	"open":        {"", "(", ""},
	"strings":     {"program(1.3){func f<o>(fp16 x){k(a=tuple<int1>([\"\"", ",\"\"", "]));}->(x);}"},
	"escapes":     {"program(1.3)[a=string(\"", `\7`, "\")]{}"},
	"comments":    {"program(1.3){", "//\n", "}"},
	"nested":      {"program(1.3){func f<o>(fp16 x){", "k(a=((((x)))));", "}->(x);}"},
	"undefined":   {"program(1.3){func f<o>(fp16 x){", "k(a=y);", "}->(x);}"},
	"definitions": {"program(1.3){func f<o>(fp16 x){", "fp16 y=k();", "}->(x);}"},
}

// TestMemoryBound checks the bound of the package documentation for Parse, and that Format
// and Convert stay within four times of it.
func TestMemoryBound(t *testing.T) {
	allocated := func(f func()) int {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		f()
		runtime.ReadMemStats(&after)
		return int(after.TotalAlloc - before.TotalAlloc)
	}
	for name, parts := range dense {
		size := effort.Rounds(1<<18, 1<<16)
		text := []byte(parts[0] + strings.Repeat(parts[1], size/len(parts[1])) + parts[2])
		var p *Program
		used := allocated(func() { p, _ = Parse("f", text) })
		t.Logf("%-12s %4d bytes per byte", name, used/len(text))
		require.Less(t, used, bytesPerByte*len(text)+1<<16, name)
		used = allocated(func() { _, _ = Format("f", text) })
		t.Logf("%-12s %4d bytes per byte, formatted", name, used/len(text))
		require.Less(t, used, 4*bytesPerByte*len(text)+1<<16, "Format: %s", name)
		used = allocated(func() { _, _ = Convert(p, OldText) })
		t.Logf("%-12s %4d bytes per byte, converted", name, used/len(text))
		require.Less(t, used, 4*bytesPerByte*len(text)+1<<16, "Convert: %s", name)
	}
}
