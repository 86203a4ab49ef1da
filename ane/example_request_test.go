package ane_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log"
	"strings"
	"sync"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/ane/mil/build"
	"github.com/anekit/anekit/internal/engine/soft"
	"github.com/anekit/anekit/unimem"
)

// ready compiles a program on the software engine, for the examples below.
func ready(src ane.Source) (m *ane.Model, done func()) {
	device, err := ane.Open(soft.New(), "")
	if err != nil {
		log.Fatal(err)
	}
	m, err = device.Compile(context.Background(), src)
	if err != nil {
		log.Fatal(err)
	}
	return m, func() {
		if err := errors.Join(m.Close(context.Background()), device.Close()); err != nil {
			log.Fatal(err)
		}
	}
}

// A request has its own surfaces. Input and Output find its tensors by name.
func ExampleRequest() {
	model, done := ready(ane.Source{Text: []byte(doubling)})
	defer done()
	request, err := model.NewRequest(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	defer request.Close()
	if _, err := request.Input("x").WriteFloat32([]float32{1, 2, 3, 4, 5, 6}); err != nil {
		log.Fatal(err)
	}
	if _, err := request.Evaluate(context.Background()); err != nil {
		log.Fatal(err)
	}
	fmt.Println(request.Output("y").Float32s())
	fmt.Println(request.Output("z").Float32s())
	// Output:
	// [2 4 6 8 10 12] <nil>
	// [] ane: output on soft: z: no such name; the program has y
}

// The caller does other work until it needs the outcome.
func ExampleRequest_EvaluateAsync() {
	model, done := ready(ane.Source{Text: []byte(doubling)})
	defer done()
	request, err := model.NewRequest(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	defer request.Close()
	if err := request.Input("x").Set(21, 0, 0, 0, 0); err != nil {
		log.Fatal(err)
	}
	outcome := request.EvaluateAsync(context.Background())
	// other work, while the engine owns the tensors
	if o := <-outcome; o.Err != nil {
		log.Fatal(o.Err)
	}
	fmt.Println(request.Output("y").At(0, 0, 0, 0))
	// Output: 42 <nil>
}

func ExampleOutcome() {
	model, done := ready(ane.Source{Text: []byte(doubling)})
	defer done()
	request, err := model.NewRequest(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	defer request.Close()
	over, cancel := context.WithCancel(context.Background())
	cancel()
	o := <-request.EvaluateAsync(over)
	fmt.Println(errors.Is(o.Err, ane.ErrDeadline))
	// Output: true
}

// Goroutines borrow requests. Get waits while all requests are lent.
func ExamplePool() {
	ctx := context.Background()
	model, done := ready(ane.Source{Text: []byte(doubling)})
	defer done()
	pool, err := model.NewPool(ctx, 2)
	if err != nil {
		log.Fatal(err)
	}
	defer pool.Close()
	doubled := make([]float32, 5)
	var all sync.WaitGroup
	for i := range doubled {
		all.Go(func() {
			r, err := pool.Get(ctx)
			if err != nil {
				log.Fatal(err)
			}
			defer func() {
				if err := pool.Put(r); err != nil {
					log.Print(err)
				}
			}()
			err = r.Input("x").Set(float32(i), 0, 0, 0, 0)
			if err == nil {
				_, err = r.Evaluate(ctx)
			}
			if err == nil {
				doubled[i], err = r.Output("y").At(0, 0, 0, 0)
			}
			if err != nil {
				log.Fatal(err)
			}
		})
	}
	all.Wait()
	fmt.Println(doubled)
	// Output: [0 2 4 6 8]
}

// A tensor is filled from a reader, sliced, and read row by row, all in place.
func ExampleTensor() {
	l, err := ane.NewLayout("x", mil.UInt8, 2, 3, 4)
	if err != nil {
		log.Fatal(err)
	}
	block, err := unimem.Open(l.Bytes())
	if err != nil {
		log.Fatal(err)
	}
	defer block.Close()
	x, err := ane.OnBlock(block, l)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(x.FillFrom(strings.NewReader("abcdefghijklmnopqrstuvwx")))
	second, err := x.Slice(0, 1, 2)
	if err != nil {
		log.Fatal(err)
	}
	for row := range second.Rows() {
		fmt.Printf("%s ", row)
	}
	fmt.Println(second.Layout().Shape, second.Offset())
	// Output:
	// 24 <nil>
	// mnop qrst uvwx [1 3 4] 192
}

// scaled returns a program that multiplies by a weight.
func scaled(by float32) *build.Program {
	b := build.New()
	f := b.Func("main")
	x := f.Input("x", build.FP16, 1, 1, 1, 4)
	f.Output("y", f.Conv(x, f.Weight("w", []float32{by}, 1, 1, 1, 1)))
	p, err := b.Program()
	if err != nil {
		log.Fatal(err)
	}
	return p
}

// A built program is compiled directly, without text.
func ExampleSource() {
	p := scaled(3)
	model, done := ready(ane.Source{Program: p})
	defer done()
	fmt.Println(model.Output("y"))
	// Output: y fp16[1 1 1 4] row 64 plane 64 batch 64 <nil>
}

// WithWeights links the same program with other weights instead of compiling it again.
func ExampleModel_WithWeights() {
	ctx := context.Background()
	three, five := scaled(3), scaled(5)
	base, done := ready(ane.Source{Program: three})
	defer done()
	model, err := base.WithWeights(ctx, five.Weights)
	if err != nil {
		log.Fatal(err)
	}
	defer model.Close(ctx)
	request, err := model.NewRequest(ctx)
	if err != nil {
		log.Fatal(err)
	}
	defer request.Close()
	if _, err := request.Input("x").WriteFloat32([]float32{1, 2, 3, 4}); err != nil {
		log.Fatal(err)
	}
	if _, err := request.Evaluate(ctx); err != nil {
		log.Fatal(err)
	}
	fmt.Println(request.Output("y").Float32s())
	// Output: [5 10 15 20] <nil>
}

func ExampleFiles() {
	weights := ane.Files{"@model_path/weights/weight.bin": []byte("..")}
	_, err := weights.ReadFile("@model_path/weights/other.bin")
	fmt.Println(errors.Is(err, fs.ErrNotExist))
	// Output: true
}

// Engines without a quality of service return errors.ErrUnsupported.
func ExampleQoS() {
	model, done := ready(ane.Source{Text: []byte(doubling)})
	defer done()
	request, err := model.NewRequest(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	defer request.Close()
	err = request.SetQoS(ane.QoSBackground)
	fmt.Println(errors.Is(err, errors.ErrUnsupported))
	// Output: true
}

func ExampleDevice() {
	device, err := ane.Open(soft.New(), "apple is not available: no Mac")
	if err != nil {
		log.Fatal(err)
	}
	defer device.Close()
	r := device.Receipt()
	fmt.Println(r.Engine, "because", r.Fallback)
	// Output: soft because apple is not available: no Mac
}

func ExampleInfo() {
	info := soft.New(soft.AllowOffsets()).Info()
	fmt.Println(info.Name, info.Offsets)
	// Output: soft true
}

func ExampleModel() {
	model, done := ready(ane.Source{Text: []byte(doubling)})
	defer done()
	for _, l := range model.Inputs() {
		fmt.Println(l)
	}
	_, err := model.Input("y")
	fmt.Println(err)
	// Output:
	// x fp16[1 1 2 3] row 64 plane 128 batch 128
	// ane: input on soft: y: no such name; the program has x
}

func ExampleResult() {
	model, done := ready(ane.Source{Text: []byte(doubling)})
	defer done()
	request, err := model.NewRequest(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	defer request.Close()
	result, err := request.Evaluate(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(result.Receipt.Engine, result.QoS)
	// Output: soft 0
}

func ExampleReceipt() {
	model, done := ready(ane.Source{Text: []byte(doubling)})
	defer done()
	r := model.Receipt()
	fmt.Println(r.Engine, r.Cached, r.Fallback == "")
	// Output: soft false true
}

// An Error has what is wrong, where, and how to fix it.
func ExampleError() {
	_, err := ane.NewLayout("x", mil.String, 1)
	var e *ane.Error
	if errors.As(err, &e) {
		fmt.Println(e.Op, "of", e.Name+":", e.Err)
		fmt.Println(e.Hint)
	}
	// Output:
	// layout of x: bad element type
	// use fp16, or fp32 with a cast at the edge
}

func ExampleLayout() {
	l, err := ane.NewLayout("x", mil.FP16, 1, 2, 3, 5)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(l.RowBytes(), "of", l.RowStride, "bytes a row;", l.Packed())
	// Output: 10 of 64 bytes a row; false
}

// A large program asks for memory that may be paged out. The receipt says "pageable" on Apple's engine; the software
// engine has no such choice.
func ExampleResidency() {
	model, done := ready(ane.Source{Text: []byte(doubling), Residency: ane.Pageable})
	defer done()
	r := model.Receipt()
	fmt.Printf("%q %s\n", r.Residency, r.Notes[0])
	// Output: "" the engine does not offer pageable memory for programs
}
