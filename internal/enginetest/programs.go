package enginetest

import (
	"encoding/binary"
	"fmt"
	"os"
	"strings"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/fp16"
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/ane/mil/blob"
)

// program is MIL text with an independent reference.
type program struct {
	name    string
	in, out []port
	body    string
	weights ane.Weights
	// reference computes the outputs, row-major, from the inputs.
	reference func(in [][]float64) [][]float64
}

// port is an input or output as the text declares it.
type port struct {
	name  string
	dtype mil.DType
	shape []int
}

func (p port) String() string {
	dims := strings.Join(strings.Fields(fmt.Sprint(p.shape)), ", ")
	return fmt.Sprintf("tensor<%s, %s> %s", p.dtype, dims, p.name)
}

func (p port) elements() int {
	n := 1
	for _, d := range p.shape {
		n *= d
	}
	return n
}

// header starts a program in the dialect that all reports agree on.
const header = `program(1.3)
[buildInfo = dict<string, string>({{"coremlc-component-MIL", "3510.2.1"}, {"coremlc-version", "3505.4.1"}, {"coremltools-component-milinternal", ""}, {"coremltools-version", "9.0"}})]
{
    func main<ios18>(`

// source returns the program's text.
func (p *program) source() ane.Source {
	var params, results []string
	for _, q := range p.in {
		params = append(params, q.String())
	}
	for _, q := range p.out {
		results = append(results, q.name)
	}
	text := header + strings.Join(params, ", ") + ") {\n" + p.body + "\n    } -> (" + strings.Join(results, ", ") +
		");\n}\n"
	return ane.Source{File: p.name + ".mil", Text: []byte(text), Weights: p.weights}
}

// half and single declare ports.
func half(name string, shape ...int) port   { return port{name, mil.FP16, shape} }
func single(name string, shape ...int) port { return port{name, mil.FP32, shape} }

// identity multiplies by one, because the engine refuses an output that is an input.
func identity(shape ...int) *program {
	x, y := half("x", shape...), half("y", shape...)
	return &program{name: fmt.Sprint("identity", shape), in: []port{x}, out: []port{y},
		body:      y.String() + ` = mul(x = x, y = fp16(0x1p+0))[name = string("y")];`,
		reference: func(in [][]float64) [][]float64 { return in }}
}

func addition(shape ...int) *program {
	y := half("y", shape...)
	return &program{name: "add", in: []port{half("a", shape...), half("b", shape...)}, out: []port{y},
		body:      y.String() + ` = add(x = a, y = b)[name = string("y")];`,
		reference: func(in [][]float64) [][]float64 { return [][]float64{zip(in[0], in[1], plus)} }}
}

func plus(a, b float64) float64 { return a + b }

// zip applies f to pairs.
func zip(a, b []float64, f func(a, b float64) float64) []float64 {
	c := make([]float64, len(a))
	for i := range a {
		c[i] = f(a[i], b[i])
	}
	return c
}

// order has inputs and outputs whose names do not sort in the order of declaration.
func order() *program {
	p := func(name string) port { return half(name, 1, 4, 3, 32) }
	return &program{name: "order", in: []port{p("zeta"), p("beta"), p("alpha")}, out: []port{p("rest"), p("all")},
		body: p("rest").String() + ` = sub(x = zeta, y = beta)[name = string("rest")];
` + p("all").String() + ` = mul(x = rest, y = alpha)[name = string("all")];`,
		reference: func(in [][]float64) [][]float64 {
			rest := zip(in[0], in[1], func(a, b float64) float64 { return a - b })
			return [][]float64{rest, zip(rest, in[2], func(a, b float64) float64 { return a * b })}
		}}
}

// splitting has two outputs of one layout, whose names sort in reverse order.
func splitting() *program {
	x, head, tail := half("x", 1, 8, 2, 32), half("head", 1, 4, 2, 32), half("tail", 1, 4, 2, 32)
	return &program{name: "split", in: []port{x}, out: []port{tail, head},
		body: fmt.Sprintf(`(%s, %s) = split(x = x, num_splits = int32(2), axis = int32(1))[name = string("parts")];`,
			head, tail),
		reference: func(in [][]float64) [][]float64 {
			middle := len(in[0]) / 2
			return [][]float64{in[0][middle:], in[0][:middle]}
		}}
}

// casting has fp32 inputs and outputs and computes in fp16.
func casting(shape ...int) *program {
	x, y := single("x", shape...), single("y", shape...)
	return &program{name: "cast", in: []port{x}, out: []port{y},
		body: half("h", shape...).String() + ` = cast(x = x, dtype = string("fp16"))[name = string("h")];
` + half("k", shape...).String() + ` = mul(x = h, y = fp16(0x1p-1))[name = string("k")];
` + y.String() + ` = cast(x = k, dtype = string("fp32"))[name = string("y")];`,
		reference: func(in [][]float64) [][]float64 {
			return [][]float64{zip(in[0], in[0], func(a, _ float64) float64 { return a / 2 })}
		}}
}

// multiplication is a matrix product of two inputs.
func multiplication(rows, inner, cols int) *program {
	y := half("y", 1, 1, rows, cols)
	return &program{name: "matmul", in: []port{half("x", 1, 1, rows, inner), half("w", 1, 1, inner, cols)},
		out:  []port{y},
		body: y.String() + ` = matmul(x = x, y = w, transpose_x = bool(false), transpose_y = bool(false))[name = string("y")];`,
		reference: func(in [][]float64) [][]float64 {
			product := make([]float64, rows*cols)
			for i := range product {
				for k := range inner {
					product[i] += in[0][i/cols*inner+k] * in[1][k*cols+i%cols]
				}
			}
			return [][]float64{product}
		}}
}

// weightPath is the path of the convolution's weight file.
const weightPath = "@model_path/weights/w.bin"

// files are weight files in memory.
type files map[string][]byte

// ReadFile implements ane.Weights.
func (f files) ReadFile(path string) ([]byte, error) {
	if b, ok := f[path]; ok {
		return b, nil
	}
	return nil, os.ErrNotExist
}

// convolution is a 1x1 convolution with weights from a file.
func convolution() (*program, error) { return weighted(99) }

// weighted is convolution with weights of the given seed.
func weighted(seed int) (*program, error) {
	const from, to, plane = 8, 4, 2 * 32
	kernel := make([]float64, to*from)
	payload := make([]byte, 2*len(kernel))
	for i := range kernel {
		kernel[i] = sample(i, seed)
		binary.LittleEndian.PutUint16(payload[2*i:], uint16(fp16.FromFloat64(kernel[i])))
	}
	var w blob.Writer
	at, err := w.Add(mil.FP16, payload, 0)
	if err != nil {
		return nil, err
	}
	y := half("y", 1, to, 2, 32)
	return &program{name: "conv", in: []port{half("x", 1, from, 2, 32)}, out: []port{y},
		weights: files{weightPath: w.Bytes()},
		body: fmt.Sprintf(`tensor<fp16, [%d, %d, 1, 1]> w = const()[name = string("w"), val = tensor<fp16, [%d, %d, 1, 1]>(BLOBFILE(path = string("%s"), offset = uint64(%d)))];
`, to, from, to, from, weightPath, at) + y.String() + ` = conv(x = x, weight = w, strides = tensor<int32, [2]>([1, 1]), pad_type = string("valid"), pad = tensor<int32, [4]>([0, 0, 0, 0]), dilations = tensor<int32, [2]>([1, 1]), groups = int32(1))[name = string("y")];`,
		reference: func(in [][]float64) [][]float64 {
			sums := make([]float64, to*plane)
			for i := range sums {
				for c := range from {
					sums[i] += kernel[i/plane*from+c] * in[0][c*plane+i%plane]
				}
			}
			return [][]float64{sums}
		}}, nil
}

// sample is input element i of a run: a multiple of a quarter in [-2, 2], so
// that sums of up to 32 products are exact in fp16.
func sample(i, seed int) float64 { return float64((i*7+i/17+seed*5)%17-8) / 4 }
