package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/anekit/anekit/internal/engine/soft/internal/gemm"
)

// peer is another library that multiplies square matrices, in one thread.
type peer struct {
	name     string
	target   float64 // the most that the engine's product may take, in times of the peer's
	turns    int
	multiply func(c, a, b []float32, n int)
}

// peers compares products of float32 with those of the peers whose names have part in them.
func peers(part string) (lines []string) {
	for _, find := range []func() (peer, string){openBLAS, gonumPeer} {
		p, skipped := find()
		switch {
		case !strings.Contains(p.name, part):
		case skipped != "":
			lines = append(lines, p.name+"\tskipped: "+skipped)
		default:
			lines = append(lines, p.compare()...)
		}
	}
	return lines
}

func (p *peer) compare() (lines []string) {
	for _, n := range []int{256, 512, 1024, 2048} {
		c, a, b := make([]float32, n*n), make([]float32, n*n), make([]float32, n*n)
		for i := range a {
			a[i], b[i] = float32(i%7), float32(i%5)
		}
		ours, theirs, _ := takeTurns(p.turns, func() error { tiles(c, a, b, n); return nil }, func() error {
			p.multiply(c, a, b, n)
			return nil
		})
		per := func(d time.Duration) string {
			return fmt.Sprintf("%.3g ns", float64(d.Nanoseconds())/float64(n)/float64(n)/float64(n))
		}
		lines = append(lines, fmt.Sprintf("float32 product %d\t%v\t%s\t%v\t%s\t%.2fx\t<= %.3gx\t%s", n,
			ours.Round(time.Microsecond), per(ours), theirs.Round(time.Microsecond), per(theirs),
			float64(ours)/float64(theirs), p.target, p.name))
	}
	return lines
}

// tiles multiplies by panels of B that stay in a cache, as the engine does.
func tiles(c, a, b []float32, n int) {
	const rows, cols = 32, 256
	panel, out := make([]float32, n*cols), make([]float32, rows*cols)
	for j := 0; j < n; j += cols {
		for k := range n {
			copy(panel[k*cols:][:cols], b[k*n+j:])
		}
		for i := 0; i < n; i += rows {
			gemm.Mul(out, a[i*n:(i+rows)*n], panel, rows, n, cols)
			for r := range rows {
				copy(c[(i+r)*n+j:][:cols], out[r*cols:])
			}
		}
	}
}
