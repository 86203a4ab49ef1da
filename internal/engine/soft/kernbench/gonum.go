package main

import (
	"runtime"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/gonum"
)

// gonumPeer is so much slower that it has few turns.
func gonumPeer() (p peer, skipped string) {
	return peer{name: "gonum", target: 1.0 / 8, turns: 2, multiply: func(c, a, b []float32, n int) {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
		gonum.Implementation{}.Sgemm(blas.NoTrans, blas.NoTrans, n, n, n, 1, a, n, b, n, 0, c, n)
	}}, ""
}
