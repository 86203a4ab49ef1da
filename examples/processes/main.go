// Command processes shares one tensor between two processes: it starts itself as a child, the
// child fills the input in shared memory, and the parent's engine reads it in place.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"os/exec"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/engine"
	"github.com/anekit/anekit/ane/mil/build"
	"github.com/anekit/anekit/unimem"
)

func main() {
	if len(os.Args) > 1 && os.Args[1] == "child" {
		child()
		return
	}
	parent(context.Background())
}

func parent(ctx context.Context) {
	b := build.New()
	f := b.Func("main")
	x := f.Input("x", build.FP16, 1, 64, 1, 64)
	f.Output("y", f.Mul(x, f.Scalar(0.5)))
	p := ane.Must(b.Program())
	device := ane.Must(engine.Open(ctx, engine.Auto))
	defer device.Close()
	model := ane.Must(device.Compile(ctx, ane.Source{Program: p}))
	defer model.Close(ctx)
	r := ane.Must(model.NewRequest(ctx))
	defer r.Close()

	// The child gets a descriptor of the tensor's memory and a header with its layout.
	memory, header, err := ane.ShareTensor(r.Input("x"))
	if errors.Is(err, unimem.ErrShare) {
		// On a Mac memory is a surface, which has no descriptor for a child process.
		fmt.Println("skipped: tensors are shared by descriptor on Linux only")
		return
	}
	check(err)
	defer memory.Close()
	cmd := exec.CommandContext(ctx, ane.Must(os.Executable()), "child")
	cmd.ExtraFiles = []*os.File{memory} // descriptor 3 of the child
	cmd.Stderr = os.Stderr
	stdin := ane.Must(cmd.StdinPipe())
	cmd.Stdout = os.Stdout
	check(cmd.Start())
	ane.Must(stdin.Write(header))
	check(stdin.Close()) // the header ends here
	check(cmd.Wait())    // the child's writes happen before its end, and so before the evaluation

	ane.Must(r.Evaluate(ctx))
	last := ane.Must(r.Output("y").At(0, 63, 0, 63))
	fmt.Println("parent: the engine halves the last element to", last)
	if last != 31.5 {
		log.Fatal("wrong: not 31.5")
	}
}

// child writes the number of its column into each element.
func child() {
	memory := os.NewFile(3, "memory")
	x := ane.Must(ane.AdoptTensor(memory, ane.Must(io.ReadAll(os.Stdin))))
	defer x.Block().Close()
	check(memory.Close()) // the Block has its own descriptor
	for c := range 64 {
		for w := range 64 {
			check(x.Set(float32(w), 0, c, 0, w))
		}
	}
	fmt.Println("child:  wrote", x.Layout())
}

func check(err error) {
	if err != nil {
		log.Fatal(err) // status 1
	}
}
