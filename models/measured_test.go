package models_test

import (
	"bufio"
	"math"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane/fp16"
)

// The simulated chips give the bits that were measured on real ones.
func TestSimulationMatchesMeasurements(t *testing.T) {
	m1, m6 := chips()[0], chips()[1]
	as := map[string]chip{"h13": m1, "h14g": m1, "h16g": m6, "h17": m6, "h18g": m6}
	counts := map[string]int{}
	file, err := os.Open("testdata/probes.txt")
	require.NoError(t, err)
	defer file.Close()
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		line := lines.Text()
		if strings.HasPrefix(line, "#") {
			continue
		}
		f := strings.Fields(line)
		require.Len(t, f, 6, line)
		c, a := as[f[0]], vector(t, f[2])
		var got float64
		switch f[1] {
		case "mac":
			weights := make([]float64, len(a))
			for i := range weights {
				weights[i] = number(t, f[3])
			}
			got = c.mac(a, weights, number(t, f[4]))
		case "reduce":
			got = away(total(a))
		case "add":
			got = c.half(a[0] + number(t, f[3]))
		case "sub":
			got = c.half(a[0] - number(t, f[3]))
		case "mul":
			got = c.half(a[0] * number(t, f[3]))
		default:
			t.Fatalf("no operation %s", f[1])
		}
		require.Equal(t, number(t, f[5]), got, line)
		counts[f[0]]++
	}
	require.NoError(t, lines.Err())
	require.Equal(t, map[string]int{"h13": 23, "h14g": 1, "h16g": 74, "h17": 4, "h18g": 334}, counts)
}

// vector reads "BITS*N,BITS,..".
func vector(t *testing.T, s string) (v []float64) {
	for _, part := range strings.Split(s, ",") {
		bits, times, repeated := strings.Cut(part, "*")
		n := 1
		if repeated {
			var err error
			n, err = strconv.Atoi(times)
			require.NoError(t, err)
		}
		x := number(t, bits)
		for range n {
			v = append(v, x)
		}
	}
	return v
}

// number reads the bits of fp16 as the engine does: the largest exponent is not
// special.
func number(t *testing.T, bits string) float64 {
	b, err := strconv.ParseUint(bits, 16, 16)
	require.NoError(t, err)
	e, m := int(b>>10&31), float64(b&1023)
	if e > 0 {
		m += 1024
	}
	v := math.Ldexp(m, max(e, 1)-25)
	if b>>15 == 1 {
		v = -v
	}
	return v + 0
}

func total(x []float64) (sum float64) {
	for _, v := range x {
		sum += v
	}
	return sum
}

// The tables have the errors that were measured on M6 over all fp16 numbers of a range:
// the largest error, and the largest in units of the last place. The figures were
// published with four digits and with one decimal.
func TestErrorsOfTablesMatchMeasurements(t *testing.T) {
	m6 := chips()[1]
	for _, c := range []struct {
		name      string
		lo, hi    float64
		got, want func(x float64) float64
		abs, ulps float64
	}{
		{"exp", -12, 10, m6.exp, math.Exp, 100.8, 9.1},
		{"sqrt", 1. / 1024, 1000, m6.sqrt, math.Sqrt, 0.0181, 1.2},
		{"rsqrt", 1. / 64, 1000, func(x float64) float64 { return m6.rsqrt(x, 0) },
			func(x float64) float64 { return 1 / math.Sqrt(x) }, 0.008139, 2.1},
		{"inverse", 1. / 64, 1000, func(x float64) float64 { return m6.inverse(x, 1e-4) },
			func(x float64) float64 { return 1 / x }, 0.4375, 13.5},
	} {
		var abs, ulps float64
		for b := range 1 << 16 {
			x := float64(fp16.Bits(b).Float32())
			if !(x >= c.lo && x <= c.hi) {
				continue
			}
			want := c.want(x)
			off := math.Abs(c.got(x) - want)
			abs, ulps = max(abs, off), max(ulps, off/math.Ldexp(1, exponent(want)-10))
		}
		require.InEpsilon(t, c.abs, abs, 0.005, "%s: largest error", c.name)
		require.InDelta(t, c.ulps, ulps, 0.06, "%s: units in the last place", c.name)
	}
}
