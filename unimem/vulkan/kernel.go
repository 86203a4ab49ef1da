package vulkan

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"

	"github.com/anekit/anekit/unimem/internal/kernels"
)

// Program is a compute kernel in SPIR-V with the entry point "main".
type Program struct {
	Name string
	// Text is the GLSL that Code was compiled from, for readers; the device does not need it.
	Text string
	// Code is SPIR-V for Vulkan 1.1. A driver trusts it: validate foreign code with spirv-val. A buffer that it declares
	// as read only ("readonly buffer" of GLSL) may be memory for reading only.
	Code    []byte
	Buffers int    // storage buffers: the bindings 0, 1, .. of set 0
	Push    int    // bytes of push constants, a multiple of 4 up to 128
	Group   [3]int // invocations of a group along x, y and z, as in the code
	// Needs checks what a caller that is not trusted asks for, such as a guest of package ane/wasm: push constants, and
	// the lengths of its Ranges. It returns the bytes that each Range needs, and the invocations along x and y; ok is
	// false for wrong constants. A Program without Needs is for trusted callers alone.
	Needs func(push []byte, lengths []int) (bytes []int, x, y int, ok bool)
}

// Product multiplies matrices of n x n float32 in rows: Buffers A, B and C = A x B of 4*n*n bytes each, and n as a
// uint32 of push constants. Groups cover n x n invocations: see Program.Groups. Sums are in the order of the row.
func Product() Program { return program(kernels.Product()) }

// Scale computes y = factor*x + offset for fp16. Buffers are x and y, which may be the same; push constants are the
// number of pairs of elements as a uint32, then factor and offset as float32. Any number of groups does the work.
func Scale() Program { return program(kernels.Scale()) }

// Linear multiplies rows of float32 by the weights of a linear layer as files have them: Buffers X, W and Y = X x W'.
// Constants are four uint32: outs, the rows of W and elements of a row of Y; ins, the elements of a row of X and W; the
// number of the element of its Range at which W begins, see Buffer.Around; and the format of W: 0 for float32, 1 for
// fp16, 2 for bfloat16. Program.Groups(outs, rows, 1) covers Y. Sums are in the order of a row.
func Linear() Program { return program(kernels.Linear()) }

func program(k kernels.Kernel) Program {
	return Program{k.Name, k.Text, k.Code, k.Buffers, k.Push, k.Group, k.Needs}
}

// Groups returns the number of groups that cover x, y and z invocations.
func (p Program) Groups(x, y, z int) [3]int { return kernels.Groups(p.Group, x, y, z) }

// Kernel is a Program that is compiled for a Device. NewKernel makes one.
type Kernel struct {
	object
	program                        Program
	reads                          []bool // for each buffer, whether the code only reads it
	module, sets, layout, pipeline uint64
}

// NewKernel compiles a Program. Errors: ErrKernel (no SPIR-V, or more than the device allows), ErrClosed, ErrLost,
// ErrMemory, ErrDriver, and the error of ctx, which bounds the driver's compiler.
func (d *Device) NewKernel(ctx context.Context, p Program) (*Kernel, error) {
	return onDevice(ctx, d, "kernel", func() (*Kernel, error) {
		if err := d.fits(p); err != nil {
			return nil, err
		}
		return d.compile(p)
	}, func(k *Kernel) { _ = k.Close() })
}

// fits checks a Program against the limits of the device.
func (d *Device) fits(p Program) error {
	const magic = 0x07230203
	invocations := 1
	for _, n := range p.Group {
		invocations *= max(n, 1)
	}
	var hint string
	switch {
	case len(p.Code) < 20 || len(p.Code)%4 != 0 || binary.LittleEndian.Uint32(p.Code) != magic:
		hint = "Code is not SPIR-V: compile the text with glslangValidator -V"
	case p.Buffers < 1 || p.Buffers > 4:
		hint = fmt.Sprintf("%d buffers; every device has 4", p.Buffers)
	case p.Push < 0 || p.Push%4 != 0 || p.Push > int(min(d.limits.maxPush, 128)):
		hint = fmt.Sprintf("%d bytes of push constants; give a multiple of 4 up to 128", p.Push)
	case invocations > int(d.limits.maxInvocations):
		hint = fmt.Sprintf("%d invocations in a group, %s allows %d", invocations, d.Name, d.limits.maxInvocations)
	default:
		return nil
	}
	return newError("kernel", ErrKernel, "", cmp.Or(p.Name, "the Program without a name")+": "+hint)
}

func (d *Device) compile(p Program) (_ *Kernel, err error) {
	code := wordsOf(p.Code)
	k := &Kernel{program: p, reads: reads(code, p.Buffers)}
	k.destroy = func(device uintptr) {
		d.in.call("vkDestroyPipeline", device, uintptr(k.pipeline), 0)
		d.in.call("vkDestroyPipelineLayout", device, uintptr(k.layout), 0)
		d.in.call("vkDestroyDescriptorSetLayout", device, uintptr(k.sets), 0)
		d.in.call("vkDestroyShaderModule", device, uintptr(k.module), 0)
	}
	defer func() {
		if err != nil {
			k.destroy(d.handle)
		}
	}()
	var a arena
	defer a.free()
	module := shaderModule{sType: typeShaderModule, size: uintptr(len(p.Code)), code: putAll(&a, code)}
	if err := d.do("kernel", "vkCreateShaderModule", d.handle, put(&a, &module), 0, put(&a, &k.module)); err != nil {
		return nil, err
	}
	bindings := make([]setBinding, p.Buffers)
	for i := range bindings {
		bindings[i] = setBinding{binding: uint32(i), kind: descriptorStorageBuffer, count: 1, stages: stageCompute}
	}
	sets := setLayout{sType: typeSetLayout, count: uint32(p.Buffers), bindings: putAll(&a, bindings)}
	if err := d.do("kernel", "vkCreateDescriptorSetLayout", d.handle, put(&a, &sets), 0, put(&a, &k.sets)); err != nil {
		return nil, err
	}
	layout := pipelineLayout{sType: typePipelineLayout, setCount: 1, sets: put(&a, &k.sets)}
	if p.Push > 0 {
		layout.pushCount, layout.pushes = 1, put(&a, &pushRange{stages: stageCompute, size: uint32(p.Push)})
	}
	if err := d.do("kernel", "vkCreatePipelineLayout", d.handle, put(&a, &layout), 0, put(&a, &k.layout)); err != nil {
		return nil, err
	}
	pipeline := computePipeline{sType: typeComputePipeline, layout: k.layout, stage: shaderStage{sType: typeShaderStage,
		stage: stageCompute, module: k.module, name: a.text("main")}}
	err = d.do("kernel", "vkCreateComputePipelines", d.handle, 0, 1, put(&a, &pipeline), 0, put(&a, &k.pipeline))
	if err != nil {
		return nil, err
	}
	return k, d.add("kernel", &k.object)
}

// wordsOf copies SPIR-V to words, which a driver reads at addresses that are multiples of 4.
func wordsOf(code []byte) []uint32 {
	words := make([]uint32, len(code)/4)
	for i := range words {
		words[i] = binary.LittleEndian.Uint32(code[4*i:])
	}
	return words
}

// Program returns the Program of the Kernel.
func (k *Kernel) Program() Program {
	if k == nil {
		return Program{}
	}
	return k.program
}

// Close frees the Kernel, once; repeating it returns nil. The error is ErrInUse while a submission that names it has
// not ended.
func (k *Kernel) Close() error {
	if k == nil || k.device == nil {
		return nil
	}
	return k.close("Kernel")
}
