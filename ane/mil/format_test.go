package mil

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestFormat(t *testing.T) {
	const text = `// The head.

//   spaces stay
program ( 1.3 ) // version
[ buildInfo = dict<string, string>({{"a", "b"}}) ] // made by hand

{ // open

// before the function
  func main<ios18>(tensor<fp16, [1]> x, // the input
    tensor<fp16, [1]> k)
  {   // body	 

    // first
    tensor<fp16, [1]> a = mul(x = x, y = k); // trailing


    // alone

    tensor<fp16, [1]> b = add(
        x = a, // left

        y = k  // right "quoted"
    ); ; // last
    tensor<fp16, [1]> c = relu(x = b); tensor<fp16, [1]> d = relu(x = c); // both

    // end of the body

  }
  -> // results
  (d);

  // between
  func other<ios18>(fp16 x) { fp16 y = relu(x = x); } -> (y); // done
  // before the end
} // closed
// behind


// and last`
	const want = `// The head.

//   spaces stay
program(1.3) // version
[buildInfo = dict<string, string>({{"a", "b"}})] // made by hand
{ // open
    // before the function
    // the input
    func main<ios18>(tensor<fp16, [1]> x, tensor<fp16, [1]> k) { // body
        // first
        tensor<fp16, [1]> a = mul(x = x, y = k); // trailing

        // alone

        // left
        // right "quoted"
        tensor<fp16, [1]> b = add(x = a, y = k);
        // last
        tensor<fp16, [1]> c = relu(x = b);
        tensor<fp16, [1]> d = relu(x = c); // both

        // end of the body

        // results
    } -> (d);

    // between
    func other<ios18>(fp16 x) {
        fp16 y = relu(x = x);
    } -> (y); // done
    // before the end
} // closed
// behind

// and last
`
	got, err := Format("f", []byte(text))
	require.NoError(t, err)
	require.Equal(t, want, string(got))
	again, err := Format("f", got)
	require.NoError(t, err)
	require.Equal(t, want, string(again))
}

// Without comments and empty lines the formatted text is what Print writes.
func TestFormatIsPrint(t *testing.T) {
	for _, pattern := range []string{"canonical/*.mil", "forms/*.mil"} {
		for _, path := range files(t, pattern) {
			src := read(t, path)
			p, err := ParseTree(path, src)
			require.NoError(t, err)
			printed := Print(p)
			got, err := Format(path, printed)
			require.NoError(t, err)
			require.Equal(t, string(printed), string(got), path)
		}
	}
}

func TestFormatRefuses(t *testing.T) {
	_, err := Format("f.mil", []byte("program(1.3) {"))
	var list ErrorList
	require.ErrorAs(t, err, &list)
	require.Equal(t, "f.mil", list[0].File)
	out, err := Format("f.mil", []byte("\uFEFFprogram(1.3) [] { func f<o>() { fp16 y = none(x = nowhere); } -> (); "+
		"} // x\r\n\r\n"))
	require.NoError(t, err, "Format does not check names and results")
	require.Equal(t, "program(1.3)\n{\n    func f<o>() {\n        fp16 y = none(x = nowhere);\n    } -> ();\n} // x\n",
		string(out))
}

// FuzzFormat checks that Format keeps the tree and the comments, and that formatting
// again changes nothing.
func FuzzFormat(f *testing.F) {
	for _, pattern := range []string{"canonical/*.mil", "forms/*.mil"} {
		for _, path := range files(f, pattern) {
			src := string(read(f, path))
			f.Add([]byte(src))
			f.Add([]byte(strings.ReplaceAll(src, ";", "; // c\n\n")))
			f.Add([]byte(strings.ReplaceAll(src, "(", "( // inside\n")))
			f.Add([]byte(strings.ReplaceAll(src, " ", " //\n")))
		}
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		p, err := ParseTree("f", src)
		out, bad := Format("f", src)
		if err != nil {
			if bad == nil {
				t.Fatalf("formatted what does not parse: %v", err)
			}
			return
		}
		if bad != nil {
			t.Fatal(bad)
		}
		q, err := ParseTree("out", out)
		if err != nil || !Equal(p, q) {
			t.Fatalf("another program: %v\n%s", err, out)
		}
		if len(comments(src)) != len(comments(out)) {
			t.Fatalf("comments are lost:\n%s", out)
		}
		again, err := Format("f", out)
		if err != nil || string(again) != string(out) {
			t.Fatalf("%v: formatted\n%s\nthen\n%s", err, out, again)
		}
	})
}

func comments(src []byte) []comment {
	var l layout
	_, _ = parse(context.Background(), "", src, false, &l) // which has its own tests
	return l.comments
}
