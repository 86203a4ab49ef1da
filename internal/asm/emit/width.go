package emit

import (
	"fmt"

	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/gotypes"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// Width is a file whose vectors have 128, 256 or 512 bits.
type Width struct {
	*File
	Bits int
}

// Lanes is the float32s of a vector.
func (w Width) Lanes() int { return w.Bits / 32 }

// Vector returns a register.
func (w Width) Vector() reg.VecVirtual {
	switch w.Bits {
	case 512:
		return w.ZMM()
	case 256:
		return w.YMM()
	}
	return w.XMM()
}

// Mask returns a register for a bit of each lane, or with 256 bits for lanes of all bits.
func (w Width) Mask() reg.Register {
	if w.Bits == 512 {
		return w.K()
	}
	return w.YMM()
}

// Vectors returns some registers.
func (w Width) Vectors(n int) []reg.VecVirtual {
	all := make([]reg.VecVirtual, n)
	for i := range all {
		all[i] = w.Vector()
	}
	return all
}

// At is memory some bytes beyond a register.
func At(base reg.Register, bytes int) operand.Mem { return operand.Mem{Base: base, Disp: bytes} }

// Whole loads 64 bits of an argument, or of a field of one.
func (f *File) Whole(c gotypes.Component) reg.GPVirtual {
	r := f.GP64()
	f.Load(c, r)
	return r
}

// Place is the memory of an argument, or of a field of one.
func (f *File) Place(c gotypes.Component) operand.Mem {
	b, err := c.Resolve()
	if err != nil {
		panic(err)
	}
	return b.Addr
}

// Fresh returns a label that the function does not have yet.
func (f *File) Fresh(name string) operand.LabelRef {
	f.labels[name]++
	if n := f.labels[name]; n > 1 {
		name += fmt.Sprint(n)
	}
	return operand.LabelRef(name)
}

// Here puts a label.
func (f *File) Here(l operand.LabelRef) { f.Label(string(l)) }

// Times repeats body until counter, which it lowers by one each time, is 0.
func (f *File) Times(name string, counter reg.Register, body func()) {
	l := f.Fresh(name)
	f.Here(l)
	body()
	f.DECQ(counter)
	f.JNE(l)
}

// End ends a function.
func (f *File) End() {
	f.VZEROUPPER()
	f.RET()
}

// Table declares n numbers of 32 bits. The same ones stand in the file once.
func (f *File) Table(n int, number func(i int) int) operand.Mem {
	return f.table(n, func(i int) operand.Constant { return operand.U32(uint32(number(i))) })
}

// Bytes is Table of bytes.
func (f *File) Bytes(n int, number func(i int) int) operand.Mem {
	return f.table(n, func(i int) operand.Constant { return operand.U8(uint8(number(i))) })
}

func (f *File) table(n int, datum func(i int) operand.Constant) operand.Mem {
	var data []operand.Constant
	for i := range n {
		data = append(data, datum(i))
	}
	key := fmt.Sprintf("%#v", data)
	if m, ok := f.tables[key]; ok {
		return m
	}
	m := f.StaticGlobal(fmt.Sprint("table", len(f.tables)))
	f.DataAttributes(attr.RODATA | attr.NOPTR)
	for _, d := range data {
		f.AppendDatum(d)
	}
	f.tables[key] = m
	return m
}

// Add adds a number to a register.
func (f *File) Add(n int, r reg.Register) { f.ADDQ(operand.I32(int32(n)), r) }

// Constant returns a register with 32 bits in each lane.
func (w Width) Constant(bits uint32) reg.VecVirtual {
	m := w.Table(1, func(int) int { return int(bits) })
	r := w.Vector()
	w.VPBROADCASTD(m, r)
	return r
}

// Zero returns a register that is 0.
func (w Width) Zero() reg.VecVirtual {
	r := w.Vector()
	w.VXORPS(r, r, r)
	return r
}
