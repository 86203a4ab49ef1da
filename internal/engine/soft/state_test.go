package soft_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/ane/mil/blob"
	"github.com/anekit/anekit/internal/engine/soft"
)

// stateful is a loaded program that a test evaluates several times.
type stateful struct {
	t   rapid.TB
	dev *ane.Device
	m   *ane.Model
	r   *ane.Request
}

func openStateful(t rapid.TB, text string) *stateful {
	t.Helper()
	return openWeighted(t, text, nil)
}

func openWeighted(t rapid.TB, text string, weights ane.Weights) *stateful {
	t.Helper()
	dev, err := ane.Open(soft.New(), "")
	require.NoError(t, err)
	m, err := dev.Compile(context.Background(), ane.Source{File: "test.mil", Text: []byte(text), Weights: weights})
	require.NoError(t, err, clip(text))
	s := &stateful{t: t, dev: dev, m: m}
	s.bind()
	return s
}

func (s *stateful) bind() {
	s.t.Helper()
	var err error
	s.r, err = s.m.NewRequest(context.Background())
	require.NoError(s.t, err)
}

// run evaluates the program and returns an output.
func (s *stateful) run(in map[string][]byte, out string) []byte {
	s.t.Helper()
	for name, data := range in {
		_, err := s.r.Input(name).Write(data)
		require.NoError(s.t, err)
	}
	_, err := s.r.Evaluate(context.Background())
	require.NoError(s.t, err)
	return s.read(out)
}

func (s *stateful) read(out string) []byte {
	got := make([]byte, s.r.Output(out).Layout().PackedBytes())
	_, err := s.r.Output(out).Read(got)
	require.NoError(s.t, err)
	return got
}

func (s *stateful) close() {
	ctx := context.Background()
	require.NoError(s.t, s.r.Close())
	require.NoError(s.t, s.m.Close(ctx))
	require.NoError(s.t, s.dev.Close())
}

const counter = `program(1.3)
{
func main<ios18>(state<tensor<fp16, [1, 3]>> s, tensor<fp16, [1, 3]> x) {
tensor<fp16, [1, 3]> r = read_state(input = s);
tensor<fp16, [1, 3]> y = add(x = r, y = x);
write_state(input = s, data = y);
} -> (y);
}`

// TestStates: a state is zero after a load, keeps what is written until the unload, and belongs to one program.
func TestStates(t *testing.T) {
	half := func(v ...float64) []byte { return encode(nd{mil.FP16, []int{1, len(v)}, v}) }
	step := map[string][]byte{"x": half(1, 2, 3)}
	var file blob.Writer
	at, err := file.Add(mil.FP16, half(0, 0, 0), 0)
	require.NoError(t, err)
	zeros := ane.Files{"w.bin": file.Bytes()}
	a := openWeighted(t, strings.Replace(counter, "y = x);", fmt.Sprintf(`y = x);
tensor<fp16, [1, 3]> w = const()[val = tensor<fp16, [1, 3]>(BLOBFILE(path = string("w.bin"), offset = uint64(%d)))];
tensor<fp16, [1, 3]> z = add(x = y, y = w);`, at), 1), zeros)
	require.Equal(t, half(1, 2, 3), a.run(step, "y"))
	require.Equal(t, half(2, 4, 6), a.run(step, "y"))

	b := openStateful(t, counter) // another program
	require.Equal(t, half(1, 2, 3), b.run(step, "y"))
	b.close()

	other, err := a.m.WithWeights(context.Background(), zeros) // an instance
	require.NoError(t, err)
	c := &stateful{t: t, dev: a.dev, m: other}
	c.bind()
	require.Equal(t, half(1, 2, 3), c.run(step, "y"))
	require.NoError(t, c.r.Close())
	require.NoError(t, other.Close(context.Background()))

	require.NoError(t, a.r.Close()) // another request of the same program
	a.bind()
	require.Equal(t, half(3, 6, 9), a.run(step, "y"))

	require.NoError(t, a.m.Unload(context.Background()))
	require.NoError(t, a.m.Load(context.Background()))
	require.Equal(t, half(1, 2, 3), a.run(step, "y"))
	a.close()
}

// TestStatesInOrder runs random programs that read, write, update and view two states, several times, beside
// an interpreter with a copy for each value.
func TestStatesInOrder(t *testing.T) {
	perType(t, func(t *rapid.T, d mil.DType) {
		shape := []int{2, either(t, 3, 32, "length")}
		typ, flat := tensorType(d, shape), tensorType(d, []int{volume(shape)})
		type statement struct {
			op       string
			to, from int // values; a state where the operator takes one
		}
		var body []string
		var program []statement
		values, flats := []string{"x"}, map[int]bool{}
		add := func(text string, s statement, flattened bool) {
			name := fmt.Sprintf("v%d", len(values))
			s.to = len(values)
			kind := typ
			if flattened {
				kind, flats[s.to] = flat, true
			}
			values = append(values, name)
			body, program = append(body, kind+" "+name+" = "+text), append(program, s)
		}
		type choice struct{ call, state, value int }
		choices := rapid.Custom(func(t *rapid.T) choice {
			return choice{number(t, 0, 5, "call"), number(t, 0, 1, "state"), number(t, 0, 15, "value")}
		})
		for _, c := range rapid.SliceOfN(choices, 1, 15).Draw(t, "statements") {
			k, from := c.state, c.value%len(values)
			if flats[from] {
				from = 0
			}
			switch c.call {
			case 0, 1:
				add(fmt.Sprintf("read_state(input = s%d);", k), statement{op: "read", from: k}, false)
			case 2:
				body = append(body, fmt.Sprintf("write_state(input = s%d, data = %s);", k, values[from]))
				program = append(program, statement{op: "write", to: k, from: from})
			case 3:
				add(fmt.Sprintf("coreml_update_state(state = s%d, value = %s);", k, values[from]),
					statement{op: fmt.Sprint("update", k), from: from}, false)
			case 4:
				add(fmt.Sprintf("reverse(x = %s, axes = tensor<int32, [1]>([0]));", values[from]),
					statement{op: "reverse", from: from}, false)
			default:
				add(fmt.Sprintf("reshape(x = %s, shape = tensor<int32, [1]>([%d]));", values[from], volume(shape)),
					statement{op: "view", from: from}, true)
			}
		}
		if len(values) == 1 {
			add("read_state(input = s0);", statement{op: "read"}, false)
		}
		text := fmt.Sprintf("program(1.3)\n{\nfunc main<ios18>(state<%s> s0, %s x, state<%s> s1) {\n%s\n} -> (%s);\n}",
			typ, typ,
			typ, strings.Join(body, "\n"), strings.Join(values[1:], ", "))
		s := openStateful(t, text)
		defer s.close()
		held := [2]nd{zeros(d, shape...), zeros(d, shape...)}
		for range 3 {
			computed := map[int]nd{0: drawn(t, d, shape...)}
			s.run(map[string][]byte{"x": encode(computed[0])}, values[1])
			for _, p := range program {
				switch p.op {
				case "read":
					computed[p.to] = held[p.from]
				case "write":
					held[p.to] = computed[p.from]
				case "update0", "update1":
					held[p.op[6]-'0'], computed[p.to] = computed[p.from], computed[p.from]
				case "view":
					computed[p.to] = computed[p.from]
				case "reverse":
					v := computed[p.from]
					computed[p.to] = from(v, shape, func(i []int) []int { return []int{1 - i[0], i[1]} })
				}
			}
			for k, name := range values[1:] {
				require.Equal(t, encode(computed[k+1]), s.read(name), "%s\n%s", name, text)
			}
		}
	})
}
