// Command stream passes results of the engine to another process through a ring in shared memory: the engine writes
// each frame into a slot, and the reader, a child process, reads it there and returns the slot.
package main

import (
	"context"
	"encoding/binary"
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

const slots, frames, width = 4, 32, 64

func main() {
	if len(os.Args) > 1 && os.Args[1] == "child" {
		read(os.Stdin, os.Stdout)
		return
	}
	ctx := context.Background()
	b := build.New()
	f := b.Func("main")
	f.Output("y", f.Mul(f.Input("x", build.FP16, 1, width), f.Scalar(2)))
	device := ane.Must(engine.Open(ctx, engine.Auto))
	defer device.Close()
	model := ane.Must(device.Compile(ctx, ane.Source{Program: ane.Must(b.Program())}))
	defer model.Close(ctx)
	check(model.Load(ctx))

	// One request for each slot of the ring; the output of each is a surface of its own.
	var ring [slots]*ane.Request
	cmd := exec.CommandContext(ctx, ane.Must(os.Executable()), "child")
	var headers []byte
	for i := range ring {
		ring[i] = ane.Must(model.NewRequest(ctx))
		defer ring[i].Close()
		memory, header, err := ane.ShareTensor(ring[i].Output("y"))
		if errors.Is(err, unimem.ErrShare) {
			fmt.Println("skipped: tensors are shared by descriptor on Linux only")
			return
		}
		check(err)
		defer memory.Close()
		cmd.ExtraFiles = append(cmd.ExtraFiles, memory) // descriptor 3+i of the child
		headers = binary.AppendUvarint(headers, uint64(len(header)))
		headers = append(headers, header...)
	}
	cmd.Stderr = os.Stderr
	in, out := ane.Must(cmd.StdinPipe()), ane.Must(cmd.StdoutPipe())
	check(cmd.Start())
	ane.Must(in.Write(headers))

	var one [1]byte
	for n := range frames {
		if n >= slots { // all slots are full: wait until the reader returns the oldest
			ane.Must(io.ReadFull(out, one[:]))
		}
		r := ring[n%slots]
		check(r.Input("x").Set(float32(n), 0, 0))
		ane.Must(r.Evaluate(ctx))
		ane.Must(in.Write([]byte{byte(n % slots)})) // the frame is written before the reader learns of it
	}
	check(in.Close())
	rest := ane.Must(io.ReadAll(out))
	check(cmd.Wait())
	sum := binary.LittleEndian.Uint32(rest[len(rest)-4:])
	fmt.Printf("%d frames through %d slots, the reader's sum is %d\n", frames, slots, sum)
	if sum != frames*(frames-1) {
		log.Fatal("wrong: not ", frames*(frames-1))
	}
}

// read sums the first element of each frame where the engine has written it.
func read(in io.Reader, out io.Writer) {
	var ring [slots]*ane.Tensor
	for i := range ring {
		header := make([]byte, ane.Must(binary.ReadUvarint(bytewise{in})))
		ane.Must(io.ReadFull(in, header))
		memory := os.NewFile(uintptr(3+i), "slot")
		ring[i] = ane.Must(ane.AdoptTensor(memory, header))
		defer ring[i].Block().Close()
		check(memory.Close()) // the Block has a descriptor of its own
	}
	sum := uint32(0)
	var slot [1]byte
	for {
		if _, err := io.ReadFull(in, slot[:]); err == io.EOF {
			break
		} else {
			check(err)
		}
		sum += uint32(ane.Must(ring[slot[0]].At(0, 0)))
		ane.Must(out.Write(slot[:])) // the slot is free
	}
	ane.Must(out.Write(binary.LittleEndian.AppendUint32(nil, sum)))
}

// bytewise reads no further byte than it is asked for.
type bytewise struct{ io.Reader }

func (r bytewise) ReadByte() (byte, error) {
	var b [1]byte
	_, err := io.ReadFull(r, b[:])
	return b[0], err
}

func check(err error) {
	if err != nil {
		log.Fatal(err) // status 1
	}
}
