package decoder

import (
	"encoding/binary"
	"fmt"
	"math"
	"runtime"
	"sync"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/fp16"
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/unimem"
	"github.com/anekit/anekit/unimem/safetensors"
)

// store makes the weights of programs from those of a folder. It converts each weight at most once, whichever
// programs use it.
type store struct {
	folder *Folder
	memory *unimem.Tape // of converted weights

	zeros map[string]*elements // offsets of packed weights that prepare has made
	dense map[string]bool      // packed weights that scale * (integer - offset) in fp16 cannot express

	checked map[string]bool // packed weights whose scales and shifts are finite

	mu   sync.Mutex
	made map[request]*elements
}

// elements are the elements of one constant.
type elements struct {
	data   []byte
	mapped bool // data is a part of the mapped file
}

// kind is the part of a module's weight that a constant has.
type kind string

const (
	halves  kind = "w" // the matrix or vector as fp16
	bias    kind = "b" // the bias as fp16
	ints    kind = "q" // packed integers as they are stored
	scales  kind = "s" // of ints
	offsets kind = "o" // of ints: the integer that stands for 0, which may be between two
	bytes8  kind = "i" // the matrix as int8
	steps8  kind = "d" // of bytes8: the step of each row
)

// extent is rows or columns from an index to another; both 0 stand for all.
type extent struct{ from, to int }

// extentOf is part i of parts of n.
func extentOf(i, n int) extent { return extent{i * n, i*n + n} }

// of is the extent within n rows or columns.
func (s extent) of(n int) extent {
	if s.to == 0 {
		return extent{0, n}
	}
	return s
}

func (s extent) len() int { return s.to - s.from }

// request names elements: rows and columns of a module's weight, with zeros after those that it has.
type request struct {
	module        string
	kind          kind
	rows, columns extent
	none          bool // zeros instead
}

// want is a constant of a program: its elements and their type.
type want struct {
	request
	typ mil.Type
}

// sizes returns the bytes of weights that programs take from the mapped file, and of those in memory of their own.
func (s *store) sizes() (mapped, converted int64) {
	for _, e := range s.made {
		if e.mapped {
			mapped += int64(len(e.data))
		} else {
			converted += int64(len(e.data))
		}
	}
	return mapped, converted
}

// get returns elements, which it makes at the first call.
func (s *store) get(r request) (*elements, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if e := s.made[r]; e != nil {
		return e, nil
	}
	w := s.folder.weights[r.module]
	if w == nil {
		return nil, &Error{Op: "load", Name: r.module, Err: ErrWeights, Detail: "no such module"}
	}
	e, err := s.make(w, r)
	if err != nil {
		return nil, err
	}
	s.made[r] = e
	return e, nil
}

// blank returns n elements of zeros in the memory of converted weights.
func (s *store) blank(d mil.DType, n int) (*elements, error) {
	data, err := s.memory.Take((n*d.Bits()+7)/8, ane.RowAlign)
	if err != nil {
		return nil, &Error{Op: "load", Detail: "no memory for converted weights", Cause: err}
	}
	return &elements{data: data}, nil
}

// lent returns elements that are those of a tensor of the mapped file.
func lent(t safetensors.Tensor, from, to, rowBytes int) *elements {
	return &elements{data: t.Bytes()[from*rowBytes : to*rowBytes : to*rowBytes], mapped: true}
}

func (s *store) make(w *weight, r request) (*elements, error) {
	rows, columns := r.rows.of(w.out), r.columns.of(w.in)
	switch r.kind {
	case bias:
		e, err := s.blank(mil.FP16, rows.len())
		if err != nil || r.none {
			return e, err
		}
		return e, store16(e.data, w.name+".bias", min(rows.to, w.out)-rows.from,
			func(dst []float32, first int) { numbers(dst, *w.bias, rows.from+first) })
	case ints:
		return s.integers(w, rows.from, rows.to)
	case scales:
		return s.steps(w, rows.from, rows.to)
	case offsets:
		return s.zeros[w.name], nil // no program has a part of the rows
	case bytes8, steps8:
		return s.bytes(w, r)
	}
	if w.in == 0 {
		rows, columns = extent{0, 1}, extent{0, w.out}
	}
	if w.bits == 0 && w.data.DType() == safetensors.F16 && w.data.Aligned() && rows.to <= w.out &&
		columns.len() == w.width() {
		e := lent(w.data, rows.from, rows.to, 2*w.width())
		return e, finite(w.name+".weight", e.data)
	}
	e, err := s.blank(mil.FP16, rows.len()*columns.len())
	if err != nil {
		return nil, err
	}
	return e, s.each(w, rows, columns, func(i, at int, row []float32) error {
		return encode(e.data[2*i*columns.len():], w.name+".weight", at, row)
	})
}

// bytes makes matrices of int8 and the steps of their rows: the largest element of a row is 127 of them.
func (s *store) bytes(w *weight, r request) (*elements, error) {
	rows, columns := r.rows.of(w.out), r.columns.of(w.in)
	data, err := s.blank(mil.Int8, rows.len()*columns.len())
	if err != nil {
		return nil, err
	}
	steps, err := s.blank(mil.FP16, rows.len())
	if err != nil {
		return nil, err
	}
	err = s.each(w, rows, columns, func(i, at int, row []float32) error {
		most := float32(0)
		for j, v := range row {
			if most = max(most, abs(v)); !(most <= 65504) {
				return notFinite(w.name+".weight", at+j, v)
			}
		}
		half := fp16.FromFloat32(most / 127)
		binary.LittleEndian.PutUint16(steps.data[2*i:], uint16(half))
		if half == 0 {
			return nil
		}
		step, to := half.Float32(), data.data[i*columns.len():]
		for j, v := range row {
			to[j] = byte(int8(max(min(math.RoundToEven(float64(v/step)), 127), -127)))
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	both := r
	both.kind = bytes8
	s.made[both] = data
	both.kind = steps8
	s.made[both] = steps
	return s.made[r], nil
}

// each calls do with rows of a weight, several at a time: row has the columns of row i, and at is the index of the
// first element in the weight. Columns after the last one are zeros.
func (s *store) each(w *weight, rows, columns extent, do func(i, at int, row []float32) error) error {
	if w.bits > 0 && !s.checked[w.name] {
		if err := w.check(); err != nil {
			return err
		}
		s.checked[w.name] = true
	}
	n, count := min(columns.to, w.width())-columns.from, min(rows.to, w.out)-rows.from
	workers := max(1, min(runtime.GOMAXPROCS(0), count*n/eachWorker))
	errs := make([]error, workers)
	var wait sync.WaitGroup
	for k := range workers {
		wait.Go(func() {
			row := make([]float32, columns.len())
			for i := k * count / workers; i < (k+1)*count/workers && errs[k] == nil; i++ {
				w.part(row[:n], rows.from+i, columns.from)
				errs[k] = do(i, (rows.from+i)*w.width()+columns.from, row)
			}
		})
	}
	wait.Wait()
	for _, err := range errs {
		if err != nil {
			return err // the first by its place
		}
	}
	return nil
}

// eachWorker is the least number of elements that a goroutine of each converts.
const eachWorker = 1 << 18

// check refuses numbers of the weight that are not finite, or not as fp16.
func (w *weight) check() error {
	tensors := []safetensors.Tensor{w.data}
	if w.bits > 0 {
		tensors = []safetensors.Tensor{w.scales, w.shifts}
	}
	var some [1024]float32
	for _, t := range tensors {
		n := int(t.Size()) / t.DType().Size()
		for first := 0; first < n; first += len(some) {
			part := some[:min(len(some), n-first)]
			numbers(part, t, first)
			for i, f := range part {
				if fp16.FromFloat32(f)&0x7c00 == 0x7c00 {
					return notFinite(t.Name(), first+i, f)
				}
			}
		}
	}
	return nil
}

// store16 stores n numbers as fp16 and refuses what is not finite, or not as fp16.
func store16(dst []byte, name string, n int, read func(dst []float32, first int)) error {
	var some [1024]float32
	for first := 0; first < n; first += len(some) {
		part := some[:min(len(some), n-first)]
		read(part, first)
		if err := encode(dst[2*first:], name, first, part); err != nil {
			return err
		}
	}
	return nil
}

// encode stores numbers as fp16 and refuses what is not finite, or not as fp16. at is the index of the first.
func encode(dst []byte, name string, at int, numbers []float32) error {
	var some [1024]fp16.Bits
	for len(numbers) > 0 {
		halves := some[:fp16.Encode(some[:], numbers)]
		for i, h := range halves {
			if h&0x7c00 == 0x7c00 {
				return notFinite(name, at+i, numbers[i])
			}
			binary.LittleEndian.PutUint16(dst[2*i:], uint16(h))
		}
		n := len(halves)
		dst, at, numbers = dst[2*n:], at+n, numbers[n:]
	}
	return nil
}

// finite refuses fp16 numbers that are not finite.
func finite(name string, data []byte) error {
	for i := 0; i+1 < len(data); i += 2 {
		if h := binary.LittleEndian.Uint16(data[i:]); h&0x7c00 == 0x7c00 {
			return notFinite(name, i/2, fp16.Bits(h).Float32())
		}
	}
	return nil
}

func notFinite(name string, index int, f float32) error {
	detail := fmt.Sprintf("element %d is %v", index, f)
	if f64 := float64(f); !math.IsNaN(f64) && !math.IsInf(f64, 0) {
		detail += ", beyond fp16"
	}
	return &Error{Op: "load", Name: name, Err: ErrNaN, Detail: detail,
		Hint: "the file is damaged, or its conversion failed"}
}
