package mil

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const newConv = `program(1.3)
[buildInfo = dict<string, string>({{"coremlc-version", "3505.4.1"}})]
{
    func main<ios18>(tensor<fp16, [1, 4]> x, fp16 k) {
        fp16 half = const()[name = string("half"), val = fp16(0x1p-1)];
        tensor<fp16, [2]> w = const()[val = tensor<fp16, [2]>(BLOBFILE(path = string("@model_path/w.bin"), offset = uint64(64)))];
        tensor<fp16, [1, 4]> y = mul(x = x, y = half)[name = string("y")];
        tensor<fp16, [1, 4]> z = softmax(axis = int32(-1), x = y);
    } -> (z);
}
`

const oldConv = `program(1.0)
[buildInfo = dict<tensor<string, []>, tensor<string, []>>({{"coremlc-version", "3505.4.1"}})]
{
    func main<ios16>(tensor<fp16, [1, 4]> x, tensor<fp16, []> k) {
        tensor<fp16, []> half = const()[name = tensor<string, []>("half"), val = tensor<fp16, []>(0x1p-1)];
        tensor<fp16, [2]> w = const()[val = tensor<fp16, [2]>(BLOBFILE(path = tensor<string, []>("@model_path/w.bin"), offset = tensor<uint64, []>(64)))];
        tensor<fp16, [1, 4]> y = mul(x = x, y = half)[name = tensor<string, []>("y")];
        tensor<fp16, [1, 4]> z = softmax(axis = tensor<int32, []>(-1), x = y);
    } -> (z);
}
`

func TestConvert(t *testing.T) {
	for _, c := range []struct {
		from, to string
		dialect  Dialect
	}{{newConv, oldConv, OldText}, {oldConv, newConv, NewText}, {newConv, newConv, NewText},
		{oldConv, oldConv, OldText}} {
		p, err := Parse("p", []byte(c.from))
		require.NoError(t, err)
		q, err := Convert(p, c.dialect)
		require.NoError(t, err)
		require.Equal(t, c.to, string(Print(q)))
		require.Equal(t, c.from, string(Print(p)), "the program does not change")
		require.Equal(t, p.Funcs[0].Body[2].Arg("y").Pos, q.Funcs[0].Body[2].Arg("y").Pos, "places stay")
	}
}

// A mixture of the dialects is brought wholly into one.
func TestConvertMixture(t *testing.T) {
	mixed := strings.NewReplacer("ios18", "ios17", `string("half")`, `tensor<string, []>("half")`,
		"fp16 half", "tensor<fp16, []> half").Replace(newConv)
	p, err := Parse("p", []byte(mixed))
	require.NoError(t, err)
	q, err := Convert(p, NewText)
	require.NoError(t, err)
	require.Equal(t, newConv, string(Print(q)))
	q, err = Convert(p, OldText)
	require.NoError(t, err)
	require.Equal(t, strings.Replace(oldConv, "ios16", "ios17", 1), string(Print(q)))
}

// The opset of an old program is the least that has its operators.
func TestConvertOpsets(t *testing.T) {
	for body, want := range map[string]string{"relu": "ios16", "quantize": "ios17"} {
		p, err := Parse("p", []byte("program(1.3) { func f<ios18>(fp16 x) { fp16 y = "+body+"(x = x); } -> (y); }"))
		require.NoError(t, err)
		q, err := Convert(p, OldText)
		require.NoError(t, err)
		require.Equal(t, want, q.Funcs[0].Opset)
	}
	for _, opset := range []string{"ios15", "ios16", "ios17", "CoreML5"} {
		p, err := Parse("p", []byte("program(1.0) { func f<"+opset+">(fp16 x) { fp16 y = relu(x = x); } -> (y); }"))
		require.NoError(t, err)
		q, err := Convert(p, NewText)
		require.NoError(t, err)
		require.Equal(t, "ios18", q.Funcs[0].Opset)
		q, err = Convert(q, OldText)
		require.NoError(t, err)
		require.Equal(t, opset, q.Funcs[0].Opset)
	}
}

func TestConvertRefuses(t *testing.T) {
	for _, c := range []struct {
		body string
		to   Dialect
		want string
	}{
		{"tensor<uint4, [1]> w = const()[val = tensor<uint4, [1]>([1])];", OldText, "2:1: uint4 is a type of ios18"},
		{"fp16 w = k(a = tensor<int6, [1]>([1]));", OldText, "2:16: int6 is a type of ios18"},
		{"fp16 y = scaled_dot_product_attention(query = x, key = x, value = x);", OldText,
			"2:10: scaled_dot_product_attention is an operator of ios18; the old dialect has none of that name; " +
				"write matmul"},
		{"write_state(input = x, data = x);", OldText, "2:1: write_state is an operator of ios18"},
		{"fp16 w = constexpr_blockwise_shift_scale()[data = x];", OldText, "2:10: constexpr_blockwise_shift_scale"},
		{"fp16 w = constexpr_lut_to_dense()[indices = x, lut = x];", OldText, "is the form of ios18; compress"},
		{"fp16 w = constexpr_lut_to_dense()[indices = x, lut = x, shape = x];", NewText,
			"the form of ios16, which ios18"},
		{"fp16 w = constexpr_sparse_to_dense(shape = x);", NewText, "the form of ios16, which ios18 replaced"},
	} {
		p, err := Parse("p", []byte(body(c.body)))
		require.NoError(t, err)
		_, err = Convert(p, c.to)
		var list ErrorList
		require.ErrorAs(t, err, &list, c.body)
		require.Contains(t, list.Error(), c.want)
		_, err = Convert(p, 1-c.to)
		require.NoError(t, err, c.body)
		_, err = FormatAs("f.mil", []byte(body(c.body)), c.to)
		require.ErrorContains(t, err, "f.mil:2:")
	}
	p, err := Parse("p", []byte("program(1.3) { func f<ios81>(state<tensor<fp16, [1]>> s) { fp16 y = k(x = s); } -> "+
		"(y); }"))
	require.NoError(t, err)
	_, err = Convert(p, NewText)
	require.ErrorContains(t, err, `1:21: function f: "ios81" is an opset of no dialect; did you mean ios18?`)
	p.Funcs[0].Opset = "ios18"
	_, err = Convert(p, OldText)
	require.ErrorContains(t, err, "1:30: states are types of ios18")
	_, err = Convert(nil, OldText)
	require.ErrorContains(t, err, "no program")
	_, err = Convert(&Program{Version: "1.3", Funcs: []*Function{nil}}, OldText)
	require.ErrorContains(t, err, "nil function")
	_, err = Convert(p, 9)
	var e *Error
	require.ErrorAs(t, err, &e)
	require.ErrorContains(t, err, "dialect 9 is not known; give NewText or OldText")
}

// FormatAs keeps comments and converts.
func TestFormatAs(t *testing.T) {
	commented := strings.NewReplacer("program(1.3)\n", "program(1.3) // head\n",
		"        tensor<fp16, [1, 4]> y", "        // scaled\n        tensor<fp16, [1, 4]> y").Replace(newConv)
	old, err := FormatAs("f", []byte(commented), OldText)
	require.NoError(t, err)
	require.Contains(t, string(old), "program(1.0) // head\n")
	require.Contains(t, string(old), "        // scaled\n        tensor<fp16, [1, 4]> y = mul(x = x, y = half)[name "+
		"= tensor<string, []>")
	back, err := FormatAs("f", old, NewText)
	require.NoError(t, err)
	require.Equal(t, commented, string(back))
	_, err = FormatAs("f", []byte("program("), NewText)
	require.Error(t, err)
}

func TestParseDialect(t *testing.T) {
	for _, d := range []Dialect{NewText, OldText} {
		got, ok := ParseDialect(d.String())
		require.True(t, ok)
		require.Equal(t, d, got)
	}
	_, ok := ParseDialect("neu")
	require.False(t, ok)
	require.Equal(t, "new old", NewText.String()+" "+OldText.String(), "as the command writes them")
}

// Apple counts its opsets to ios18 and by years from ios26.
func TestKnownOpsets(t *testing.T) {
	for name, want := range map[string]bool{"ios12": false, "ios13": true, "ios18": true, "ios19": false,
		"ios25": false,
		"ios26": true, "ios35": true, "ios36": false, "CoreML3": true, "CoreML8": true, "CoreML9": false, "ios0": false,
		"ios-18": false, "macos15": false} {
		known, hint := (&Function{Opset: name}).KnownOpset()
		require.Equal(t, want, known, name)
		require.Equal(t, known, hint == "", name)
	}
}

// FuzzConvert converts any program to both dialects. What converts prints to text that
// parses to an Equal program, is left as it is by a second conversion, and returns.
func FuzzConvert(f *testing.F) {
	f.Add([]byte(newConv))
	f.Add([]byte(oldConv))
	for _, pattern := range []string{"canonical/*.mil", "forms/*.mil"} {
		for _, path := range files(f, pattern) {
			src, err := os.ReadFile(path)
			require.NoError(f, err)
			f.Add(src)
		}
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		p, err := Parse("f", src)
		if err != nil {
			return
		}
		for _, d := range []Dialect{NewText, OldText} {
			q, err := Convert(p, d)
			if err != nil {
				for _, e := range err.(ErrorList) {
					require.True(t, e.Pos.Known(), "%v", e)
				}
				continue
			}
			again, err := Parse("q", Print(q))
			require.NoError(t, err, "%s", Print(q))
			require.True(t, Equal(q, again))
			twice, err := Convert(q, d)
			require.NoError(t, err)
			require.True(t, Equal(q, twice))
			if other, err := Convert(q, 1-d); err == nil {
				back, err := Convert(other, d)
				require.NoError(t, err)
				require.True(t, Equal(q, back))
			}
		}
	})
}
