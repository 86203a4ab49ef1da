// Command kernbench measures kernels of the software engine beside their floors, each pair in the same rounds. It has
// one worker, apart from the block of a transformer.
//
//	go run ./internal/engine/soft/kernbench [part of a name]
//	go run ./internal/engine/soft/kernbench shape | 'shape: part of a name'
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/engine/soft"
)

// A kernel and its floor take turns rounds times, and more often until they have taken enough: others may want the
// processor. The table has the quickest of each.
const (
	rounds = 9
	enough = 500 * time.Millisecond
)

// takeTurns returns the quickest run of a and of b in at least so many turns.
func takeTurns(turns int, a, b func() error) (quickA, quickB time.Duration, err error) {
	quickA, quickB = time.Hour, time.Hour
	begin := time.Now()
	for i := 0; i < turns || time.Since(begin) < enough; i++ {
		start := time.Now()
		if err := a(); err != nil {
			return 0, 0, err
		}
		middle := time.Now()
		if err := b(); err != nil {
			return 0, 0, err
		}
		quickA, quickB = min(quickA, middle.Sub(start)), min(quickB, time.Since(middle))
	}
	return quickA, quickB, nil
}

func main() {
	part := strings.Join(os.Args[1:], " ")
	if err := table(context.Background(), part); err != nil {
		fmt.Fprintln(os.Stderr, "kernbench:", err)
		os.Exit(1)
	}
}

// table measures the cases whose name has part in it.
func table(ctx context.Context, part string) error {
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "Kernel\tMeasured\tPer item\tFloor\tPer item\tRatio\tTarget\tFloor is")
	list := cases()
	switch {
	case strings.Contains(part, "packed"): // they take a GiB
		list = packedCases()
	case strings.HasPrefix(part, "shape"): // they take a minute
		list = shapeCases()
	}
	for _, c := range list {
		if !strings.Contains(c.name, part) {
			continue
		}
		best, floor, err := c.measure(ctx)
		if err != nil {
			return errors.Join(w.Flush(), fmt.Errorf("%s: %w", c.name, err))
		}
		per := func(d time.Duration) string {
			return fmt.Sprintf("%.3g ns", float64(d.Nanoseconds())/float64(c.items))
		}
		fmt.Fprintf(w, "%s\t%v\t%s\t%v\t%s\t%.2fx\t<= %.2fx\t%s\n", c.name, best.Round(time.Microsecond), per(best),
			floor.Round(time.Microsecond), per(floor), float64(best)/float64(floor), c.target, c.floorName)
	}
	for _, line := range peers(part) {
		fmt.Fprintln(w, line)
	}
	return w.Flush()
}

// program is a loaded program with tensors.
type program struct {
	device *ane.Device
	model  *ane.Model
	req    *ane.Request
}

// open compiles a program on an engine with options and some workers, or as many as processors if that is 0.
func open(
	ctx context.Context, text string, weights ane.Weights, workers int,
	opts ...soft.Option,
) (*program, error) {
	if workers > 0 {
		opts = append(opts, soft.Workers(workers))
	}
	d, err := ane.Open(soft.New(opts...), "")
	if err != nil {
		return nil, err
	}
	p := &program{device: d}
	if p.model, err = d.Compile(ctx, ane.Source{Text: []byte(text), Weights: weights}); err == nil {
		p.req, err = p.model.NewRequest(ctx)
	}
	if err != nil {
		return nil, err
	}
	for _, l := range p.model.Inputs() {
		list := make([]float32, l.Elements())
		for i := range list {
			list[i] = float32(i*7919%4001-2000) / 1000
		}
		if _, err := p.req.Input(l.Name).WriteFloat32(list); err != nil {
			return nil, err
		}
	}
	return p, p.run(ctx)
}

func (p *program) run(ctx context.Context) error {
	_, err := p.req.Evaluate(ctx)
	return err
}

func (p *program) close(ctx context.Context) error {
	if err := p.req.Close(); err != nil {
		return err
	}
	if err := p.model.Close(ctx); err != nil {
		return err
	}
	return p.device.Close()
}

// measure returns the quickest run and the quickest floor.
func (c *benchCase) measure(ctx context.Context) (best, floor time.Duration, err error) {
	p, err := open(ctx, c.text, c.weights, c.workers)
	if err != nil {
		return 0, 0, err
	}
	bare, done, err := c.floor(ctx)
	if err != nil {
		return 0, 0, err
	}
	best, floor, err = takeTurns(rounds, func() error { return p.run(ctx) }, func() error { bare(); return nil })
	if err != nil {
		return 0, 0, err
	}
	if err := done(); err != nil {
		return 0, 0, err
	}
	return best, floor, p.close(ctx)
}
