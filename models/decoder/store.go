package decoder

import (
	"encoding/binary"
	"fmt"
	"math"
	"runtime"
	"runtime/debug"
	"sync"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/fp16"
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/internal/errtext"
	"github.com/anekit/anekit/unimem"
	"github.com/anekit/anekit/unimem/safetensors"
)

// store makes the weights of programs from those of a folder. It converts each weight at most once, whichever
// programs use it.
type store struct {
	folder *Folder
	memory *unimem.Tape // of converted weights
	made   map[request]*elements
	dense  map[string]bool // packed weights that scale * (integer - offset) in fp16 cannot express
	trusts bool            // matrices in the file are looked at when a result is not finite, see suspects
	unseen []unseen        // those
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

// request names elements: rows and columns of a module's weight, with zeros after those that it has. Programs of packed
// weights have all of them.
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

// mapped has the first bytes of what programs read in the mapped file.
func (s *store) mapped() map[*byte]bool {
	all := map[*byte]bool{}
	for _, e := range s.made {
		if e.mapped {
			all[&e.data[0]] = true
		}
	}
	return all
}

// get returns elements, which it makes at the first call.
func (s *store) get(r request) (e *elements, err error) {
	if s.made[r] == nil {
		s.made[r], err = s.make(s.folder.weights[r.module], r)
	}
	return s.made[r], err
}

func (s *store) make(w *weight, r request) (*elements, error) {
	switch r.kind {
	case bias:
		if r.none {
			return s.blank(mil.FP16, r.rows.len())
		}
		return s.halves(dense(*w.bias, w.out, 1), r.rows, extent{})
	case ints:
		return s.integers(w)
	case scales:
		return s.halves(flat(w.scales, w.out, w.in/w.group), extent{}, extent{})
	case bytes8, steps8:
		return s.bytes(w, r)
	}
	return s.halves(w.matrix(), r.rows, r.columns)
}

// blank returns n elements of zeros in the memory of converted weights.
func (s *store) blank(d mil.DType, n int) (*elements, error) {
	data, err := s.memory.Take((n*d.Bits()+7)/8, ane.RowAlign)
	if err != nil {
		return nil, &Error{Base: errtext.Base{Op: "load", Detail: "no memory for converted weights", Cause: err}}
	}
	return &elements{data: data}, nil
}

// halves returns rows and columns of a matrix as fp16, in the file if they are there.
func (s *store) halves(m matrix, rows, columns extent) (*elements, error) {
	rows, columns = rows.of(m.out), columns.of(m.in)
	t, all := m.tensor, extent{0, m.in}
	if t != nil && t.DType() == safetensors.F16 && t.Aligned() && rows.to <= m.out && columns == all {
		data := t.Bytes()[2*rows.from*m.in : 2*rows.to*m.in : 2*rows.to*m.in]
		if s.trusts && len(data) >= trustedBytes {
			s.unseen = append(s.unseen, unseen{m, rows})
			return &elements{data, true}, nil
		}
		return &elements{data, true}, m.each(rows, all, nil)
	}
	e, err := s.blank(mil.FP16, rows.len()*columns.len())
	if err != nil {
		return nil, err
	}
	return e, m.each(rows, columns, func(i int, row []float32) error {
		encode(e.data[2*i*columns.len():], row)
		return nil
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
	err = w.matrix().each(rows, columns, func(i int, row []float32) error {
		most := float32(0)
		for _, v := range row {
			most = max(most, abs(v))
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

// workerElements is the least number of elements that a goroutine of spread takes.
const workerElements = 1 << 15

// each reads rows of a matrix, several at a time, and refuses numbers that are not finite. It calls do, unless it is
// nil, with the columns of row i; those after the last column of the matrix are zeros.
func (m matrix) each(rows, columns extent, do func(i int, row []float32) error) error {
	n, count := min(columns.to, m.in)-columns.from, min(rows.to, m.out)-rows.from
	var stored []fp16.Bits // which are looked at as they are
	if m.tensor != nil && m.tensor.DType() == safetensors.F16 && do == nil {
		stored, _ = safetensors.View[fp16.Bits](*m.tensor) // none at an odd address
	}
	return spread(count, n, func(i, end int) error {
		row := make([]float32, columns.len())
		for ; i < end; i++ {
			first := (rows.from+i)*m.in + columns.from
			if stored != nil && fp16.Finite(stored[first:first+n]) {
				continue
			}
			m.read(row[:n], rows.from+i, columns.from)
			err := finite(m.name, first, row[:n])
			if err != nil && m.packed != nil {
				err = m.packed.blame(first, n, err)
			} else if err == nil && do != nil {
				err = do(i, row)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// spread calls do with parts of count things of some elements each, several at a time. It returns the first error by its
// place.
func spread(count, elements int, do func(from, to int) error) error {
	workers := max(1, min(runtime.GOMAXPROCS(0), count*elements/workerElements))
	if workers == 1 {
		return do(0, count)
	}
	errs, faults := make([]error, workers), make([]any, workers)
	var wait sync.WaitGroup
	for k := range workers {
		wait.Go(func() {
			defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
			defer func() { faults[k] = recover() }() // of a file that became shorter; Folder.guard has it
			errs[k] = do(k*count/workers, (k+1)*count/workers)
		})
	}
	wait.Wait()
	for _, fault := range faults {
		if fault != nil {
			panic(fault)
		}
	}
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// check refuses a weight with a number that is not finite.
func (w *weight) check() error {
	all := []matrix{w.matrix()}
	if w.bits > 0 {
		all = []matrix{flat(w.scales, w.out, w.in/w.group), flat(w.shifts, w.out, w.in/w.group)}
	}
	for _, m := range all {
		if err := m.each(extent{0, m.out}, extent{0, m.in}, nil); err != nil {
			return err
		}
	}
	return nil
}

// encode stores numbers as fp16, at an even address.
func encode(dst []byte, numbers []float32) {
	to, _ := unimem.View[fp16.Bits](dst[:2*len(numbers)])
	fp16.Encode(to, numbers)
}

// finite refuses numbers of a tensor that are not finite as fp16. at is the index of the first.
func finite(name string, at int, numbers []float32) error {
	const some = 1 << 10
	var halves [some]fp16.Bits
	for ; len(numbers) > 0; at, numbers = at+some, numbers[min(some, len(numbers)):] {
		if n, fine := fp16.EncodeFinite(halves[:], numbers); !fine {
			return infinite(name, at, numbers[:n])
		}
	}
	return nil
}

// infinite is the error of the first number that is not finite as fp16.
func infinite(name string, at int, numbers []float32) error {
	for i, f := range numbers {
		if abs(f) < 65520 { // which rounds to infinity
			continue
		}
		detail := fmt.Sprintf("element %d is %v", at+i, f)
		if f64 := float64(f); !math.IsNaN(f64) && !math.IsInf(f64, 0) {
			detail += ", beyond fp16"
		}
		return &Error{Base: errtext.Base{Op: "load", Err: ErrNaN, Detail: detail,
			Hint: "the file is damaged, or its conversion failed"}, Name: name}
	}
	return nil
}

func abs(f float32) float32 { return math.Float32frombits(math.Float32bits(f) &^ (1 << 31)) }
