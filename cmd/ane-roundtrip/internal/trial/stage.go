package trial

import (
	"cmp"
	"slices"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/models"
)

// Names of checks of what one side wrote and the other reads, without a look at the engine's memory.
const (
	lateReadCheck = "sharing/late-read"
	turnsCheck    = "sharing/turns"
	chainCheck    = "sharing/chain"
)

// scene is a check of reads of named surfaces, between evaluations of programs.
type scene struct {
	name, about string
	programs    []string // models of one shape
	surfaces    []string
	play        func(*stage)
}

// scenes are the checks on a stage.
func scenes() []scene {
	return []scene{
		{lateReadCheck, "the CPU has to read an output in memory that it overwrote after binding, also from equal inputs",
			[]string{"identity"}, []string{"x", "y"}, lateRead},
		{turnsCheck, "requests that read a surface, and one that writes it, have to see each other's order",
			[]string{"identity"}, []string{"x", "y", "z", "w"}, takeTurns},
		{chainCheck, "a program has to read what another wrote, with no access of the CPU between",
			[]string{"identity", "scale-bias"}, []string{"x", "y", "z"}, chained},
	}
}

// stage is surfaces for programs with one input and one output of the same shape.
type stage struct {
	t        *T
	models   []*ane.Model
	programs []models.Model
	surfaces map[string]*ane.Tensor
	reads    int    // of outputs
	right    int    // of these
	fault    string // of the first wrong one
}

// play makes the check of a scene.
func (e *evidence) play(c scene) func(*T) {
	return func(t *T) {
		s := &stage{t: t, surfaces: map[string]*ane.Tensor{}}
		for _, m := range Must(models.All()) {
			if slices.Contains(c.programs, m.Name) {
				s.programs = append(s.programs, m)
				loaded, _, _ := load(&t.T, e.device, Source(m))
				s.models = append(s.models, loaded)
			}
		}
		first := s.models[0].Inputs()[0]
		for _, m := range s.models {
			for _, l := range []ane.Layout{m.Inputs()[0], m.Outputs()[0]} {
				if l.Bytes() != first.Bytes() || l.RowStride != first.RowStride || l.DType != first.DType {
					t.Add(Skipped(c.name, "tensors of one shape lie differently on this engine: rows of %d bytes and of %d",
						first.RowStride, l.RowStride))
					return
				}
			}
		}
		for _, name := range c.surfaces {
			s.surfaces[name] = t.surface(s.models[0].SurfaceSize(first, nil), first)
		}
		c.play(s)
		about := cmp.Or(s.fault, c.about)
		t.Add(Compare(c.name, float64(s.right), "reads", AtLeast(float64(s.reads)), "%s", about))
	}
}

// bind binds program i to two surfaces.
func (s *stage) bind(i int, from, to string) *ane.Request {
	return s.t.bind(s.models[i], s.surfaces[from], s.surfaces[to])
}

// write fills a surface with the inputs of the last program for a seed and returns them.
func (s *stage) write(name string, seed uint64) []float64 {
	t := s.surfaces[name]
	last := len(s.programs) - 1
	values := s.programs[last].Input(s.models[last].Inputs()[0].Name, t.Layout().Elements(), seed)
	write(t, values)
	return values
}

// of is what program i makes of values.
func (s *stage) of(i int, values []float64) []float64 {
	return s.programs[i].Reference(map[string][]float64{s.models[i].Inputs()[0].Name: values})[s.models[i].Outputs()[0].Name]
}

// evaluate runs requests one after the other, after it overwrote surfaces with bytes that no program writes.
func (s *stage) evaluate(poisoned []string, requests ...*ane.Request) {
	for _, name := range poisoned {
		b := s.surfaces[name].Bytes()
		for i := range b {
			b[i] = 0xff // a NaN in every type
		}
	}
	for _, r := range requests {
		Must(r.Evaluate(s.t.Ctx))
	}
}

// read compares a surface with what program i has to have written there.
func (s *stage) read(name string, i int, want []float64) {
	s.reads++
	_, fault := compare(name, s.surfaces[name], want, s.programs[i].Tolerance)
	if fault == "" {
		s.right++
	}
	s.fault = cmp.Or(s.fault, fault)
}

// lateRead overwrites an output after binding, evaluates, and reads it, twice for each input.
func lateRead(s *stage) {
	r := s.bind(0, "x", "y")
	for seed := range uint64(2) {
		in := s.write("x", seed)
		for range 2 {
			s.evaluate([]string{"y"}, r)
			s.read("y", 0, s.of(0, in))
		}
	}
}

// takeTurns evaluates two requests that read x in both orders, then one that reads x and one that writes it.
func takeTurns(s *stage) {
	read, also, written := s.bind(0, "x", "y"), s.bind(0, "x", "z"), s.bind(0, "w", "x")
	for seed, order := range [][]*ane.Request{{read, also}, {also, read}} {
		in := s.write("x", uint64(seed))
		s.evaluate([]string{"y", "z"}, order...)
		s.read("y", 0, s.of(0, in))
		s.read("z", 0, s.of(0, in))
	}
	for seed, order := range [][]*ane.Request{{read, written}, {written, read}} {
		seen, in := s.write("x", uint64(10+seed)), s.write("w", uint64(20+seed))
		s.evaluate([]string{"y"}, order...)
		if order[0] == written {
			seen = s.of(0, in)
		}
		s.read("y", 0, s.of(0, seen))
		s.read("x", 0, s.of(0, in))
	}
}

// chained evaluates two programs, each in turn as the first.
func chained(s *stage) {
	for _, order := range [][]int{{0, 1}, {1, 0}} {
		first, second := s.bind(order[0], "x", "y"), s.bind(order[1], "y", "z")
		for seed := range uint64(2) {
			in := s.write("x", seed)
			s.evaluate([]string{"y", "z"}, first, second)
			s.read("z", order[1], s.of(order[1], s.of(order[0], in)))
		}
	}
}
