package ane_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"log"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/fp16"
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/internal/engine/soft"
	"github.com/anekit/anekit/unimem"
)

// weighted is a program whose weights are in a file.
const weighted = `program(1.3)
{
    func main<ios18>(tensor<fp16, [1, 4]> x) {
        tensor<fp16, [1, 4]> w = const()[val = tensor<fp16, [1, 4]>(BLOBFILE(path = string("@model_path/w.bin"),
            offset = uint64(64)))];
        tensor<fp16, [1, 4]> y = mul(x = x, y = w)[name = string("y")];
    } -> (y);
}`

// deviceOf opens a device on an engine.
func deviceOf(e ane.Engine) *ane.Device {
	d, err := ane.Open(e, "")
	if err != nil {
		log.Fatal(err)
	}
	return d
}

// requestOf compiles text on a device and returns a request, and a function that closes all three.
func requestOf(d *ane.Device, src ane.Source) (r *ane.Request, done func()) {
	ctx := context.Background()
	m, err := d.Compile(ctx, src)
	if err != nil {
		log.Fatal(err)
	}
	if r, err = m.NewRequest(ctx); err != nil {
		log.Fatal(err)
	}
	return r, func() {
		if err := errors.Join(r.Close(), m.Close(ctx), d.Close()); err != nil {
			log.Fatal(err)
		}
	}
}

// A Source takes a program as the parser or as the builder returns it.
func ExampleProgram() {
	parsed, err := mil.Parse("doubling.mil", []byte(doubling))
	if err != nil {
		log.Fatal(err)
	}
	for _, p := range []ane.Program{parsed, scaled(2)} {
		m, done := ready(ane.Source{Program: p})
		fmt.Println(len(p.Tree().Funcs), m.Outputs()[0].Shape)
		done()
	}
	// Output:
	// 1 [1 1 2 3]
	// 1 [1 1 1 4]
}

// chaining is an engine that runs the steps of a chain one after another.
type chaining struct{ ane.Engine }

func (chaining) EvaluateChain(ctx context.Context, steps []ane.Invocation) error {
	for i, s := range steps {
		if err := s.Evaluate(ctx); err != nil {
			return fmt.Errorf("step %d: %w", i, err)
		}
	}
	return nil
}

// EvaluateChain of a Device runs on an engine that is a Chainer.
func ExampleChainer() {
	d := deviceOf(chaining{soft.New()})
	r, done := requestOf(d, ane.Source{Text: []byte(doubling)})
	defer done()
	ane.Must(r.Input("x").WriteFloat32([]float32{1, 2, 3, 4, 5, 6}))
	ane.Must(d.EvaluateChain(context.Background(), r, r))
	fmt.Println(ane.Must(r.Output("y").Float32s()))
	// Output: [2 4 6 8 10 12]
}

// inPlace are weights in memory of the caller: four halves that are 3.
type inPlace struct{ data []byte }

func (w *inPlace) Constant(path string, _ uint64, t mil.Type) ([]byte, error) {
	fmt.Println("constant", path, t)
	return w.data, nil
}

func (w *inPlace) Hold() (release func()) { return func() {} }

func (w *inPlace) ReadFile(path string) ([]byte, error) {
	return nil, &fs.PathError{Op: "read", Path: path, Err: fs.ErrNotExist}
}

// threes fills data with halves that are 3.
func threes(data []byte) []byte {
	for at := 0; at < len(data); at += 2 {
		binary.LittleEndian.PutUint16(data[at:], uint16(fp16.FromFloat32(3)))
	}
	return data
}

// The software engine computes with the bytes that Constant returns.
func ExampleConstants() {
	weights := &inPlace{threes(make([]byte, 8))}
	r, done := requestOf(deviceOf(soft.New()), ane.Source{Text: []byte(weighted), Weights: weights})
	defer done()
	ane.Must(r.Input("x").WriteFloat32([]float32{1, 2, 3, 4}))
	ane.Must(r.Evaluate(context.Background()))
	fmt.Println(ane.Must(r.Output("y").Float32s()))
	// Output:
	// constant @model_path/w.bin tensor<fp16, [1, 4]>
	// [3 6 9 12]
}

// inBlock are weights in a Block, as of a mapped file.
type inBlock struct {
	inPlace
	block *unimem.Block
}

func (w *inBlock) Blocks() []*unimem.Block { return []*unimem.Block{w.block} }

// Mapped weights name the Blocks that their bytes lie in.
func ExampleMapped() {
	block := ane.Must(unimem.Open(unimem.PageSize))
	defer block.Close()
	weights := &inBlock{inPlace{threes(block.Bytes()[:8])}, block}
	r, done := requestOf(deviceOf(soft.New()), ane.Source{Text: []byte(weighted), Weights: weights})
	defer done()
	ane.Must(r.Input("x").WriteFloat32([]float32{1, 2, 3, 4}))
	ane.Must(r.Evaluate(context.Background()))
	fmt.Println(ane.Must(r.Output("y").Float32s()))
	// Output:
	// constant @model_path/w.bin tensor<fp16, [1, 4]>
	// [3 6 9 12]
}
