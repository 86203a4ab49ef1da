package metal

import (
	"fmt"
	"slices"

	"github.com/anekit/anekit/unimem/internal/kernels"
)

// maxPush is the largest number of bytes of setBytes:length:atIndex:.
const maxPush = 4096

// Program is a compute kernel as text of the Metal language. A buffer that it takes as "const device" may be memory for
// reading only.
type Program struct {
	Name string // of the function
	Text string
	// Buffers has the number of the argument, [[buffer(n)]], for each buffer of a Dispatch.
	Buffers []int
	Push    int    // bytes of constants, a multiple of 4 up to 4096; 0 for none
	PushAt  int    // number of their argument
	Group   [3]int // threads of a group along x, y and z
	// Needs is that of package vulkan.
	Needs func(push []byte, lengths []int) (bytes []int, x, y int, ok bool)
}

// Product multiplies matrices of n x n float32 in rows: buffers A, B and C = A x B of 4*n*n bytes each, and n as a
// uint32 of constants. Groups cover n x n threads: see Program.Groups. Sums are in the order of the row. Its text is
// made by spirv-cross from the kernel of the same name in package vulkan.
func Product() Program { return program(kernels.Product()) }

// Scale computes y = factor*x + offset for fp16. Buffers are x and y, which may be the same; constants are the number
// of pairs of elements as a uint32, then factor and offset as float32. Any number of groups does the work. Its text is
// made by spirv-cross from the kernel of the same name in package vulkan.
func Scale() Program { return program(kernels.Scale()) }

// Linear multiplies rows of float32 by the weights of a linear layer as files have them: Buffers X, W and Y = X x W'.
// Constants are four uint32: outs, the rows of W and elements of a row of Y; ins, the elements of a row of X and W; the
// number of the element of its Range at which W begins, see Buffer.Around; and the format of W: 0 for float32, 1 for
// fp16, 2 for bfloat16. Program.Groups(outs, rows, 1) covers Y. Sums are in the order of a row. Its text is made by
// spirv-cross from the kernel of the same name in package vulkan.
func Linear() Program { return program(kernels.Linear()) }

func program(k kernels.Kernel) Program {
	m, _ := k.InMetal() // a test compares all
	return Program{Name: k.Name, Text: m.Text, Buffers: m.Bindings, Push: k.Push, PushAt: m.Push, Group: k.Group,
		Needs: k.Needs}
}

// Groups returns the number of groups that cover x, y and z threads.
func (p Program) Groups(x, y, z int) [3]int { return kernels.Groups(p.Group, x, y, z) }

// Kernel is a Program that Metal has compiled for a Device. NewKernel makes one, and its caller closes it.
type Kernel struct {
	object  *object
	program Program
	reads   uint32 // see pipeline
}

// Program is what the Kernel was compiled of.
func (k *Kernel) Program() Program { return k.program }

// NewKernel compiles a Program. Errors: ErrClosed, ErrKernel (the words of Metal's compiler are in the hint; or more
// threads in a group than the GPU has).
func (d *Device) NewKernel(p Program) (*Kernel, error) {
	refuse := func(format string, args ...any) (uintptr, error) {
		return 0, newError("kernel", ErrKernel, "", p.Name+": "+fmt.Sprintf(format, args...))
	}
	p.Buffers = slices.Clone(p.Buffers)
	var made pipeline
	o, err := d.make("kernel", func(ref uintptr) (uintptr, error) {
		switch {
		case len(p.Buffers) > 30:
			return refuse("%d buffers, Metal has 31 arguments", len(p.Buffers))
		case p.Push < 0 || p.Push%4 != 0 || p.Push > maxPush:
			return refuse("%d bytes of constants: give a multiple of 4 up to %d", p.Push, maxPush)
		}
		if made = d.driver.newKernel(ref, p.Text, p.Name); made.ref == 0 {
			return refuse("%s", made.fault)
		}
		threads := 1
		for _, n := range p.Group {
			threads *= max(n, 1)
		}
		if threads > made.threads {
			d.driver.release(made.ref)
			return refuse("%d threads in a group, this GPU runs %d", threads, made.threads)
		}
		return made.ref, nil
	})
	if err != nil {
		return nil, err
	}
	return &Kernel{o, p, made.reads}, nil
}

// Close releases the Kernel, once; repeating it returns nil. The error is ErrInUse while a Work that names it has not
// ended.
func (k *Kernel) Close() error {
	if k == nil {
		return nil
	}
	return k.object.close("Kernel")
}
