package mil

import "testing"

// FuzzParse passes any bytes to Parse. A program that parses must print to text that
// parses to an equal program and prints the same again.
func FuzzParse(f *testing.F) {
	for _, pattern := range []string{"canonical/*.mil", "forms/*.mil", "errors/*.mil"} {
		for _, path := range files(f, pattern) {
			f.Add(read(f, path))
		}
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		p, err := Parse("f", src)
		if err != nil {
			return
		}
		out := Print(p)
		q, err := Parse("printed", out)
		if err != nil {
			t.Fatalf("%v in\n%s", err, out)
		}
		if !Equal(p, q) {
			t.Fatalf("not equal to what was printed:\n%s", out)
		}
		if again := Print(q); string(again) != string(out) {
			t.Fatalf("printed\n%s\nthen\n%s", out, again)
		}
	})
}

// FuzzValue evaluates any text as a literal. What Parse accepts must evaluate to as
// many elements as its type has.
func FuzzValue(f *testing.F) {
	for _, seed := range []string{
		"fp16(0x1p-1)", "tensor<int4, [2, 2]>([[1, -8], [3, 7]])", "bool(true)", `string("a\n\x41")`,
		"tensor<fp16, [2]>([fp16(1), inf])", "tensor<bool, [?]>([])", "uint64(18446744073709551615)",
		`tensor<fp16, [2]>(BLOBFILE(path = string("w"), offset = uint64(64)))`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		v, err := parseValue(text)
		if err != nil || v == nil || v.Bare() || v.Type.Kind != Scalar && v.Type.Kind != Tensor || v.Blob() != nil {
			return
		}
		var n int
		switch d := v.Type.DType; {
		case d.Float():
			var l []float64
			l, err = v.Floats()
			n = len(l)
		case d.Integer():
			var l []int64
			l, err = v.Ints()
			n = len(l)
		case d == Bool:
			var l []bool
			l, err = v.Bools()
			n = len(l)
		default:
			var l []string
			l, err = v.Strings()
			n = len(l)
		}
		if err != nil {
			t.Fatalf("%s parses, yet: %v", text, err)
		}
		if want, known := v.Type.Elements(); known && n != want {
			t.Fatalf("%d elements of %v", n, v.Type)
		}
	})
}
