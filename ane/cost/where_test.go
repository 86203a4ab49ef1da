package cost

import (
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane/chip"
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/ane/mil/lint"
	"github.com/anekit/anekit/internal/effort"
	"github.com/anekit/anekit/internal/ops"
	"github.com/anekit/anekit/internal/shapes"
	"github.com/anekit/anekit/models"
)

// elsewhere are the rules of lint that are errors and do not say that a compiler refuses an operator for what it is.
var elsewhere = strings.Fields("syntax types unknown-operator bare-literal conv-groups opset-os " + // no sound program
	"gelu-mode epsilon-missing concat-interleave " + // it takes the operator, written in full
	"blob-offset blob-overlap blob-path dynamic-conv-ignored tile-poison slice-scale " + // it computes something else
	"dead-output unused-input only-views conv-chain") // it refuses a program of any operators

// offEngine returns the places that lint says are on the CPU, or refused. whole is set if it says so of the program.
func offEngine(found []lint.Finding, c chip.Chip, via chip.Compiler) (places map[mil.Pos]string, whole bool) {
	places = map[mil.Pos]string{}
	for _, f := range found {
		switch rule := f.Rule.ID; {
		case !slices.Contains(f.Chips, c) || !slices.Contains(f.Compilers, via):
		case via == chip.CoreML && !strings.Contains(f.Message, "runs on the CPU") &&
			!strings.Contains(f.Message, "runs it on the CPU") && rule != "last-relu":
		case via != chip.CoreML && (f.Severity != lint.Error || slices.Contains(elsewhere, rule)):
		default:
			places[f.Pos] = rule
			whole = whole || via == chip.CoreML && strings.Contains(f.Rule.Reason, "the whole model on the CPU")
		}
	}
	return places, whole
}

// reason returns the rule that keeps a statement from the engine: its own, or that of the statement around it, of an
// operand, of a result, or of what makes its weights.
func reason(n *ops.Node, places map[mil.Pos]string) string {
	if n.Within != nil {
		if rule := reason(n.Within, places); rule != "" {
			return rule
		}
	}
	if rule := places[n.Op.Pos]; rule != "" {
		return rule
	}
	for _, v := range append(n.Operands(), n.Out...) {
		if rule := places[v.Pos]; rule != "" {
			return rule
		}
		if v.Made != nil && v.Made != n && strings.HasPrefix(v.Made.Op.Kind, "constexpr_") {
			if rule := reason(v.Made, places); rule != "" {
				return rule
			}
		}
	}
	return ""
}

// makers adds the statements that compute a value, for Core ML.
func makers(v *ops.Value, rule string, via chip.Compiler, places map[mil.Pos]string) {
	if v != nil && v.Made != nil && !v.Folded && via == chip.CoreML {
		places[v.Made.Op.Pos] = rule
		for _, from := range v.Made.Operands() {
			makers(from, rule, via, places)
		}
	}
}

// agree checks that lint and the estimate give one answer to where each operator of a program runs.
func agree(t *testing.T, name, text string, rules map[string]bool) {
	p, err := mil.Parse(name, []byte(text))
	if err != nil && !mil.OnlyNames(err) {
		return
	}
	if p, _, err = shapes.Fix(name, p, "", nil, nil); err != nil {
		return
	}
	text = string(mil.Print(p)) // as the estimate sees it, with lengths for open axes
	p, err = mil.Parse(name, []byte(text))
	require.NoError(t, err)
	found := lint.Text(name, []byte(text), lint.Options{Compilers: chip.Compilers()})
	if slices.ContainsFunc(found, func(f lint.Finding) bool { return f.Rule.ID == "many" }) {
		return // some are left out
	}
	for _, f := range p.Funcs {
		r := read(p, f)
		for _, c := range chip.All() {
			for _, via := range chip.Compilers() {
				places, whole := offEngine(found, c, via)
				for _, f := range found {
					i := slices.IndexFunc(r.layers, func(l *layer) bool { return l.Op.Pos == f.Pos })
					if i >= 0 && strings.Contains(f.Message, "with all that computes them") {
						makers(r.layers[i].Value("indices"), f.Rule.ID, via, places)
					}
				}
				where := ops.Place(r.Graph, c, via).Where
				for _, s := range r.layers {
					rule := reason(s.Node, places)
					rules[rule] = true
					require.Equal(t, rule != "" || whole, where[s.Node] != ops.OnEngine,
						"%s: %v: %s on %v by %v: lint says %q, the estimate %v\n%s", name, s.Op.Pos, s.Op.Kind, c, via, rule,
						where[s.Node], text)
				}
			}
		}
	}
}

// Where lint says that an operator runs on the CPU or is refused, the estimate does not have it on the engine, and the
// other way round: for each program of this project.
func TestPlacesOfPrograms(t *testing.T) {
	n, rules := 0, map[string]bool{}
	require.NoError(t, filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".txtar" {
			return err
		}
		a, err := txtar.ParseFile(path)
		if err != nil {
			return err
		}
		for _, f := range a.Files {
			if strings.HasPrefix(string(f.Data), "program(") {
				n++
				agree(t, path+" "+f.Name, string(f.Data), rules)
			}
		}
		return nil
	}))
	require.Greater(t, n, 100)
	all, err := models.All()
	require.NoError(t, err)
	for _, m := range all {
		agree(t, m.Name, string(m.Text), rules)
	}
	last := chain(t, 32, 512, 1, 64, 1, 1, true)
	f := last.Funcs[0]
	f.Body = append(f.Body, &mil.Op{Kind: "relu", Results: []mil.Var{mil.V(f.Params[0].Type, "y")},
		Args: []mil.Arg{mil.A("x", mil.Ref{Name: f.Results[0].Name})}})
	f.Results = []mil.Ref{{Name: "y"}}
	agree(t, "chain", string(mil.Print(last)), rules)
	agree(t, "gather", `program(1.3)
{
 func main<ios18>(tensor<fp16, [64]> x, tensor<fp16, [64]> z) {
  tensor<fp16, [64]> a = relu(x = z);
  tensor<int16, [64]> i = cast(dtype = string("int16"), x = a);
  tensor<fp16, [64]> b = exp(x = x);
  tensor<fp16, [64]> y = gather(axis = int32(0), indices = i, x = b);
 } -> (y);
}`, rules)
	for _, rule := range strings.Fields("last-relu cpu-operator channel-pad tile-factors block-quantization int4-blocks reduce-times-zero vector-palette kernel-width") {
		require.True(t, rules[rule], rule)
	}
}

// The shape of a tensor, an element of it and a list with that are known when compiling: no engine runs these
// statements. Lint names no compiler that refuses them, and the estimate has no cost of them.
func TestFoldedStatementsHaveNoPlace(t *testing.T) {
	const text = `program(1.3)
{
 func main<ios18>(tensor<fp16, [1, 16, 64]> x) {
  tensor<int32, [3]> s = shape(x = x);
  tensor<int32, [1]> n = gather(axis = int32(0), indices = tensor<int32, [1]>([1]), x = s);
  tensor<int32, [2]> both = concat(axis = int32(0), interleave = bool(false), values = (n, n));
  tensor<fp16, [1]> c = random_categorical(x = tensor<fp16, [2]>([1, 2]), seed = int32(-1));
  tensor<fp16, [1, 16, 64]> y = relu(x = x);
 } -> (y);
}`
	p, err := mil.Parse("folded", []byte(text))
	require.NoError(t, err)
	e, err := Of(p, Options{})
	require.NoError(t, err)
	var costed []string
	for _, op := range e.Ops {
		costed = append(costed, op.Kind)
	}
	require.Equal(t, []string{"random_categorical", "relu"}, costed, "each evaluation draws other numbers")
	rules := map[string]bool{}
	agree(t, "folded", text, rules)
	for _, f := range lint.Text("folded", []byte(text), lint.Options{Compilers: chip.Compilers()}) {
		if f.Line >= 4 && f.Line <= 6 {
			require.Contains(t, []string{"nested-const", "unused-value", "missing-argument"}, f.Rule.ID, "%v", f)
		}
	}
}

// The same for each operator, with operands of several types and shapes, computed or known when compiling.
func TestPlacesOfOperators(t *testing.T) {
	if testing.Short() {
		t.Skip("no goroutines share memory in it")
	}
	types := strings.Fields("fp16 fp32 int32 int8 int4 uint64")
	shapes := []string{"[1, 64, 8, 64]", "[1, 64, 1, 144000]", "[1, 2, 1, 2, 1, 2]", "[512, 512, 512, 8]"}
	if !effort.Full() {
		types, shapes = []string{"fp16", "int4", "uint64"}, []string{shapes[0], shapes[3]}
	}
	rules := map[string]bool{}
	for _, kind := range ops.Names() {
		for _, d := range types {
			for _, shape := range shapes {
				for _, known := range []string{"x", "w"} {
					typ := fmt.Sprintf("tensor<%s, %s>", d, shape)
					agree(t, kind, "program(1.3)\n{\n func main<ios18>("+typ+" x) {\n "+typ+" w = const()[val = "+typ+
						"(BLOBFILE(path = string(\"@model_path/w.bin\"), offset = uint64(64)))];\n "+typ+" y = "+
						call(kind, known)+";\n } -> (y);\n}\n", rules)
				}
			}
		}
	}
	for _, rule := range strings.Fields("io-type int4-operand large-surface refused-operator cpu-operator state cast-type") {
		require.True(t, rules[rule], rule)
	}
}

// call is a statement with x for the first tensor of an operator and another value for the rest, and no settings.
func call(kind, known string) string {
	def := ops.Lookup(kind)
	if def == nil {
		return kind + "()"
	}
	var args []string
	for i, p := range def.Params {
		value := known
		if i == 0 {
			value = "x"
		}
		if p.Variadic {
			value = "(" + value + ")"
		}
		if !p.Const {
			args = append(args, p.Name+" = "+value)
		}
	}
	return kind + "(" + strings.Join(args, ", ") + ")"
}
