package mil

import (
	"path/filepath"
	"strings"
	"testing"
)

// large is a program of two thousand statements.
func large(b *testing.B) []byte {
	src := string(read(b, filepath.Join("testdata", "canonical", "conv.mil")))
	start := strings.Index(src, "        tensor<fp16, [1, 32, 1, 64]> y")
	var s strings.Builder
	s.WriteString(src[:start])
	for i := range 2000 {
		n := string(rune('a'+i%26)) + strings.Repeat("_", i/26)
		s.WriteString("        tensor<fp16, [1, 32, 1, 64]> y" + n +
			" = conv(dilations = dl, groups = gr, pad = pd, pad_type = pt, strides = st, weight = w, x = x)[name = " +
			"string(\"y\")];\n")
	}
	s.WriteString(src[start:])
	return []byte(s.String())
}

// numbers is a program with a list of a hundred thousand numbers.
func numbers() []byte {
	return []byte(body("tensor<fp16, [100000]> w = const()[val = tensor<fp16, [100000]>([" +
		strings.Repeat("0x1.99ap-4, ", 99999) + "1])];"))
}

// scanBytes reads every byte once and counts words: the least that any parser does.
func scanBytes(src []byte) (words int) {
	inside := false
	for _, c := range src {
		is := in(c, letters|digits)
		if is && !inside {
			words++
		}
		inside = is
	}
	return words
}

var sink int

func benchParse(b *testing.B, src []byte) {
	b.SetBytes(int64(len(src)))
	b.ReportAllocs()
	for b.Loop() {
		p, err := Parse("f", src)
		if err != nil {
			b.Fatal(err)
		}
		sink += len(p.Funcs)
	}
}

func benchScan(b *testing.B, src []byte) {
	b.SetBytes(int64(len(src)))
	for b.Loop() {
		sink += scanBytes(src)
	}
}

func BenchmarkParse(b *testing.B)             { benchParse(b, large(b)) }
func BenchmarkParseFloor(b *testing.B)        { benchScan(b, large(b)) }
func BenchmarkParseNumbers(b *testing.B)      { benchParse(b, numbers()) }
func BenchmarkParseNumbersFloor(b *testing.B) { benchScan(b, numbers()) }

func BenchmarkPrint(b *testing.B) {
	p, err := Parse("f", large(b))
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		out := Print(p)
		b.SetBytes(int64(len(out)))
	}
}

func BenchmarkPrintFloor(b *testing.B) {
	src := large(b)
	b.SetBytes(int64(len(src)))
	for b.Loop() {
		sink += len([]byte(string(src)))
	}
}
