// Package growthbench measures how cost grows with size: of products, attention, steps of a language model, clients of
// a broker, tensors of a file, and operators of a program. It fits the exponent of each.
package growthbench

import (
	"cmp"
	"context"
	"math"
	"time"

	"github.com/anekit/anekit/internal/measure"
	"github.com/anekit/anekit/internal/procmem"
	"github.com/anekit/anekit/internal/step"
)

// Subject is something whose cost grows with a size.
type Subject struct {
	Name string
	Unit string // what the size counts
	// Expected is the exponent that the work has by itself; the cost of a busy machine may grow faster.
	Expected float64
	Sizes    []int // at least two, rising
	Waits    bool  // a call waits for other processes
	// Open prepares a size. It returns a call, and how many operations one call has.
	Open func(t *step.T, size int) (call func() error, operations int)
}

// Growth is what Measure found.
type Growth struct {
	Subject  string  `json:"subject"`
	Unit     string  `json:"unit"`
	Points   []Point `json:"points"`
	Exponent float64 `json:"exponent"` // fitted: the cost grows with this power of the size
	Last     float64 `json:"exponent_last"`
	Expected float64 `json:"expected"`
}

// Point is the cost of an operation at one size.
type Point struct {
	Size int     `json:"size"`
	Cost float64 `json:"cost_ns"`
}

// Measure measures the sizes of a subject until one call would take longer than most. It calls each several times
// and takes the shortest, and has two sizes at least.
func (s Subject) Measure(ctx context.Context, most time.Duration) (Growth, error) {
	g := Growth{Subject: s.Name, Unit: s.Unit, Expected: s.Expected}
	for i, size := range s.Sizes {
		took := time.Duration(0)
		err := step.Run(ctx, func(t *step.T) {
			call, operations := s.Open(t, size)
			took = step.Must(s.shortest(t.Ctx, 1, call)) // it warms up too
			if took <= most/4 {
				rounds := min(max(int(most/max(took, 1)), 3), 200)
				took = min(took, step.Must(s.shortest(t.Ctx, rounds, call)))
			}
			g.Points = append(g.Points, Point{size, float64(took) / float64(operations)})
		})
		if err != nil {
			return g, err
		}
		if i == 0 || i+1 == len(s.Sizes) {
			continue
		}
		grows := math.Pow(float64(s.Sizes[i+1])/float64(size), max(s.Expected, 1))
		if float64(took)*grows > float64(most) {
			break
		}
	}
	g.Exponent, g.Last = exponent(g.Points), exponent(g.Points[len(g.Points)-2:])
	return g, nil
}

// shortest calls n times and returns the shortest time: that of the processor, which other programs on the machine
// change little, or for a subject that waits the clock's.
func (s Subject) shortest(ctx context.Context, n int, call func() error) (time.Duration, error) {
	best := time.Duration(math.MaxInt64)
	if s.Waits || procmem.Computed() == 0 {
		return measure.Best(ctx, n, call)
	}
	for range n {
		before := procmem.Computed()
		if err := cmp.Or(ctx.Err(), call()); err != nil {
			return 0, err
		}
		best = min(best, max(procmem.Computed()-before, 1))
	}
	return best, nil
}

// exponent is the slope of the line through the logarithms of sizes and costs that has the least squares.
func exponent(points []Point) float64 {
	var x, y, xx, xy float64
	n := float64(len(points))
	for _, p := range points {
		a, b := math.Log(float64(p.Size)), math.Log(p.Cost)
		x, y, xx, xy = x+a, y+b, xx+a*a, xy+a*b
	}
	return (n*xy - x*y) / (n*xx - x*x)
}
