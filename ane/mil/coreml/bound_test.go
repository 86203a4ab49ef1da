package coreml_test

import (
	"bytes"
	"maps"
	"runtime"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane/mil/coreml"
	"github.com/anekit/anekit/internal/effort"
)

// bytesPerByte is the bound that the package documentation states: what reading allocates for each byte of a file, in
// all, garbage included.
const bytesPerByte = 160

// dense are models that make the most of the fewest bytes: n times a part.
func dense(n int) map[string]proto {
	many := func(part ...byte) proto { return bytes.Repeat(part, n/len(part)) }
	distinct := func() (b proto) {
		for i := range n / 4 {
			b = append(b, packed(1<<14+i)...)
		}
		return b
	}()
	f := func(parts ...proto) proto { return msg(502, entry(2, "main", slices.Concat(parts...))) }
	block := func(parts ...proto) proto {
		return f(str(2, "CoreML6"), entry(3, "CoreML6", append(parts, str(2, "y"))...))
	}
	constant := func(v proto) proto {
		return block(msg(3, str(1, "k"), named(3, "y", tensor(pFP16)), entry(5, "v", v)))
	}
	params := func() (b proto) {
		for i := range n / 20 {
			b = append(b, named(1, "p"+strconv.Itoa(i), msg(1, num(1, pInt8), num(2, 0)))...)
		}
		return b
	}()
	count := func(b proto) int { return len(b) }
	small := msg(1, num(1, pInt8), num(2, 0))
	return map[string]proto{
		"truth values": constant(value(tensor(pBool, n), msg(3, msg(1, many(1))))),
		"integers":     constant(value(tensor(pInt32, n), msg(2, msg(1, many(1))))),
		"distinct":     constant(value(tensor(pInt32, n/4), msg(2, msg(1, distinct)))),
		"rows":         constant(value(tensor(pInt32, n, 1, 1), msg(2, msg(1, many(1))))),
		"halves":       constant(raw(tensor(pFP16, n/2), many(0, 0x3c)...)),
		"bits":         constant(raw(tensor(37, 8*n), many(0x55)...)),
		"texts":        constant(value(tensor(pString, n/2), msg(4, many(1<<3|2, 0)))),
		"axes": block(msg(3, str(1, "k"), named(3, "y", msg(1, num(1, pFP16), num(2, n/2), many(3<<3|2,
			0))))),
		"types": block(msg(3, str(1, "k"), named(3, "y", msg(3, many(append(proto{1<<3 | 2,
			byte(count(small))}, small...)...))))),
		"operations": block(many(msg(3, str(1, "k"))...)),
		"results":    block(msg(3, str(1, "k"), many(named(3, "y", small)...))),
		"one name":   f(many(named(1, "x", small)...)),
		"returned":   block(many(2<<3|2, 1, 'x')),
		"arguments":  block(msg(3, str(1, "k"), many(arg("a", "x")...))),
		"bindings":   block(msg(3, str(1, "k"), entry(2, "a", many(msg(1, str(1, "x"))...)))),
		"blocks":     block(msg(3, str(1, "k"), many(msg(4, str(2, "x"))...))),
		"functions":  msg(502, many(entry(2, "f")...)),
		"bodies":     f(str(2, "o"), many(3<<3|2, 0)),
		"pairs": constant(slices.Concat(msg(2, dictType(small, small)), msg(3, msg(4, many(msg(1, msg(1,
			raw(small, 1)), msg(2, raw(small, 1)))...))))),
		"items": constant(slices.Concat(msg(2, listType(small)), msg(3, msg(3, many(msg(1, raw(small,
			1))...))))),
		"unknown fields": many(num(15, 1)...),
		"features":       msg(2, many(feature(1, "x", nil)...)),
		"described":      msg(2, many(msg(20, str(1, "x"))...)),
		"metadata":       msg(2, msg(100, many(msg(100, str(1, "k"))...))),
		"shapes":         slices.Concat(msg(2, feature(1, "x", msg(5, msg(21, many(1<<3|2, 0))))), block()),
		"ranges":         msg(2, feature(1, "x", msg(5, msg(31, many(1<<3|2, 0))))),
		"sizes":          msg(2, feature(1, "x", msg(4, msg(21, many(1<<3|2, 0))))),
		"parameters":     f(str(2, "CoreML6"), params, entry(3, "CoreML6", str(2, "p0"))),
		"parts":          msg(202, many(1<<3|2, 0)),
		"names":          msg(202, many(2<<3|2, 0)),
		"choices": slices.Concat(msg(2, slices.Concat(bytes.Repeat(feature(1, "x", array(nil, msg(21, msg(1, msg(1,
			packed(1)))))), n/40)),
			feature(1, "z", array(nil, msg(21, bytes.Repeat(msg(1, msg(1, packed(1))), n/12))))),
			f(str(2, "CoreML6"), named(1, "x", tensor(pFP16, open)), named(1, "z", tensor(pFP16, open)), entry(3,
				"CoreML6", str(2, "x")))),
	}
}

func TestMemoryBound(t *testing.T) {
	models := dense(effort.Rounds(1<<19, 1<<16))
	for _, name := range slices.Sorted(maps.Keys(models)) {
		model := append(num(1, 7), models[name]...)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := coreml.Read(model)
		runtime.ReadMemStats(&after)
		used := int(after.TotalAlloc - before.TotalAlloc)
		t.Logf("%-15s %4d bytes per byte: %.150v", name, used/len(model), err)
		require.Less(t, used, bytesPerByte*len(model)+1<<16, name)
	}
}

// Messages nest as deep as other readers of protobuf allow, and no deeper.
func TestDepth(t *testing.T) {
	nested := func(depth int) error {
		part := tensor(pFP16)
		for range depth {
			part = stateType(part)
		}
		_, err := coreml.Read(program(9, nil, function("main", "CoreML8", []proto{named(1, "x", part)}, str(2, "x"))))
		return err
	}
	require.NoError(t, nested(20))
	require.ErrorContains(t, nested(60), "messages nest more than 100 deep")
	require.ErrorContains(t, nested(1000), "messages nest more than 100 deep")
}
